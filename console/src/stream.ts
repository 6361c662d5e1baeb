// The journal's records as they become durable: /v1/events, read by hand, since EventSource cannot say who asks.
//
// Whoever is interested is called for each record, and must be quick; what is shown is drawn from `beat`, which comes
// at most four times a second, however many records there are.
import { signal } from "@preact/signals";
import { answered, headers, isStranger, link, lost, token } from "./api";
import type { Told } from "./replies";

export interface Heard {
  id: string;
  told: Told;
}

export type Listener = (heard: Heard) => void;

// `refused`: this user may not see all records.
export const streaming = signal<"waiting" | "on" | "refused">("waiting");
export const beat = signal(0);
// Counts the times when records were missed: whoever keeps a picture of the state reads it anew.
export const gaps = signal(0);

const BEAT_MS = 250;
const SILENCE_MS = 45_000; // the server beats every 15 s

const listeners = new Set<Listener>();
let lastId: string | null = null;
let isBeatDue = false;
let lastBeat = 0;

export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function drawSoon(): void {
  if (isBeatDue) return;
  isBeatDue = true;
  const wait = Math.max(0, lastBeat + BEAT_MS - performance.now());
  setTimeout(
    () =>
      requestAnimationFrame(() => {
        isBeatDue = false;
        lastBeat = performance.now();
        ++beat.value;
      }),
    wait,
  );
}

// One event's lines.
class Event {
  id = "";
  type = "";
  data = "";

  take(line: string): void {
    if (line.startsWith("data: ")) this.data = line.slice(6);
    else if (line.startsWith("id: ")) this.id = line.slice(4);
    else if (line.startsWith("event: ")) this.type = line.slice(7);
  }

  finish(): void {
    if (this.id) lastId = this.id;
    if (this.type === "gap") ++gaps.value;
    else if (this.data) {
      const heard = { id: this.id, told: JSON.parse(this.data) as Told };
      for (const listener of listeners) listener(heard);
      drawSoon();
    }
    this.id = this.type = this.data = "";
  }
}

async function readAll(body: ReadableStream<Uint8Array>, alive: () => void): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const event = new Event();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    rest += decoder.decode(value, { stream: true });
    let begin = 0;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", begin)) {
      if (end === begin) event.finish();
      else event.take(rest.slice(begin, end));
      begin = end + 1;
    }
    rest = rest.slice(begin);
  }
}

// Until it ends, for whatever reason. Answers how long to wait before the next try.
async function follow(stop: AbortController): Promise<number> {
  const said = headers();
  if (lastId !== null) said["Last-Event-ID"] = lastId;
  const reply = await fetch("/v1/events", { headers: said, cache: "no-store", signal: stop.signal });
  answered();
  if (reply.status === 401) isStranger.value = true;
  if (reply.status === 401 || reply.status === 403) {
    streaming.value = "refused";
    return Infinity;
  }
  // The id is one of another journal's time, or there are too many who listen.
  if (reply.status === 400) lastId = null;
  if (!reply.ok || !reply.body) return 5000;
  streaming.value = "on";
  let silence = 0;
  const alive = (): void => {
    clearTimeout(silence);
    silence = window.setTimeout(() => stop.abort(), SILENCE_MS);
  };
  alive();
  try {
    await readAll(reply.body, alive);
  } finally {
    clearTimeout(silence);
  }
  return 0;
}

let current: AbortController | null = null;

// Follows the stream from now on, for the user of now; a later call takes its place.
export function startStream(): void {
  current?.abort();
  const stop = new AbortController();
  current = stop;
  streaming.value = "waiting";
  if (isStranger.value && token.value === null) return;
  follow(stop).then(
    (wait) => {
      if (current !== stop || wait === Infinity) return;
      streaming.value = "waiting";
      // It ends when the server does.
      if (wait === 0) lost();
      else setTimeout(() => current === stop && startStream(), wait);
    },
    () => {
      if (current !== stop) return;
      streaming.value = "waiting";
      lost();
      // Aborted by its own silence: the connection is dead, the server need not be.
      if (link.value.state === "up") startStream();
    },
  );
}

// Browsers have six connections for a server: tabs that nobody looks at give theirs back, and go on behind the last record
// when somebody does. The server keeps records for a minute; after that it tells of a gap.
const HIDDEN_MS = 10_000;
let hiding = 0;

export function restWhileHidden(): void {
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (!document.hidden) {
      if (current === null) startStream();
      return;
    }
    hiding = window.setTimeout(() => {
      current?.abort();
      current = null;
    }, HIDDEN_MS);
  });
}
