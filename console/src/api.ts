// Requests to the server that this page came from, and to no other.
import { signal } from "@preact/signals";

// Why a request was not done: the server's answer.
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

// There was no answer.
export class Unreachable extends Error {}

// --- who asks ---

const TOKEN = "tenure.token";

// The base64 of name:password, for as long as this tab lives; null: nobody has signed in.
export const token = signal<string | null>(sessionStorage.getItem(TOKEN));
// The server wants to know who asks.
export const isStranger = signal(false);

export function keepToken(value: string | null): void {
  token.value = value;
  if (value === null) sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, value);
}

export function tokenOf(name: string, password: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(`${name}:${password}`)));
}

// X-Requested-With keeps the browser from asking for a password by itself.
export function headers(as: string | null = token.value): Record<string, string> {
  const said: Record<string, string> = { "X-Requested-With": "console" };
  if (as !== null) said["Authorization"] = `Basic ${as}`;
  return said;
}

// --- whether it answers ---

// `times` counts how often it has come back: what depends on the connection begins anew when it changes.
export const link = signal<{ state: "connecting" | "up" | "lost"; times: number; since: number }>({
  state: "connecting",
  times: 0,
  since: Date.now(),
});

let probing = false;

export function answered(): void {
  const { state, times } = link.value;
  if (state !== "up") link.value = { state: "up", times: state === "lost" ? times + 1 : times, since: Date.now() };
}

export function lost(): void {
  if (link.value.state !== "lost") link.value = { state: "lost", times: link.value.times, since: Date.now() };
  void probe();
}

// Asks once a second until there is an answer.
async function probe(): Promise<void> {
  if (probing) return;
  probing = true;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    try {
      const reply = await fetch("/readyz", { cache: "no-store", headers: headers(null), signal: AbortSignal.timeout(5000) });
      if (reply.ok) break;
    } catch {
      // Not yet.
    }
  }
  probing = false;
  answered();
}

// --- asking ---

// Whole numbers beyond 2^53 become bigint, which is exact.
function parsed(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const exact = (_: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === "number" && !Number.isSafeInteger(value) && context?.source && /^-?\d+$/.test(context.source)
      ? BigInt(context.source)
      : value;
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

function refusal(status: number, body: string): Refused {
  try {
    const { error } = JSON.parse(body) as { error: { code: string; message: string } };
    return new Refused(status, error.code, error.message);
  } catch {
    return new Refused(status, "ERR", `The server answered with status ${status}.`);
  }
}

async function exchange(method: string, target: string, body?: unknown, as?: string | null): Promise<string> {
  let reply: Response;
  let text: string;
  try {
    reply = await fetch(target, {
      method,
      headers: headers(as),
      body: body === undefined ? null : JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.timeout(15_000),
    });
    text = await reply.text();
  } catch (error) {
    lost();
    throw new Unreachable(String(error));
  }
  answered();
  if (reply.ok) return text;
  if (reply.status === 401 && as === undefined) isStranger.value = true;
  throw refusal(reply.status, text);
}

type Query = Record<string, string | number | undefined>;

// A path of segments, each encoded.
export function path(...segments: string[]): string {
  return "/" + segments.map(encodeURIComponent).join("/");
}

export async function get<T>(target: string, query: Query = {}): Promise<T> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return parsed(await exchange("GET", search ? `${target}?${search}` : target)) as T;
}

export async function getText(target: string): Promise<string> {
  return exchange("GET", target);
}

export async function post<T>(target: string, body: unknown = {}): Promise<T> {
  return parsed(await exchange("POST", target, body)) as T;
}

// As whoever this token stands for, which is not kept.
export async function getAs<T>(target: string, as: string): Promise<T> {
  return parsed(await exchange("GET", target, undefined, as)) as T;
}

// --- listings ---

// At least `least` entries from a cursor on, if there are so many: pages may be short or empty before the end.
export async function list<T>(
  target: string,
  noun: string,
  least: number,
  query: Query = {},
): Promise<{ entries: T[]; cursor: string }> {
  const entries: T[] = [];
  let cursor = String(query["cursor"] ?? "0");
  for (let asked = 0; asked < 20; ++asked) {
    const page = await get<Record<string, unknown>>(target, { ...query, cursor, count: Math.min(1000, least - entries.length) });
    entries.push(...(page[noun] as T[]));
    cursor = page["cursor"] as string;
    if (cursor === "0" || entries.length >= least) break;
  }
  return { entries, cursor };
}
