// How the server stands, asked every two seconds; and the last minutes of it, for the charts.
import { signal } from "@preact/signals";
import { get, getText, Refused } from "./api";
import { heardTime } from "./clock";
import type { Status } from "./replies";

export interface Sample {
  at: number; // seconds, by the browser's clock: the charts' axis
  submitted: number; // each second
  granted: number;
  completed: number;
  records: number;
  syncMean: number | null; // milliseconds; null: nothing was synced
  syncSlowest: number | null; // 99 of 100 were quicker
}

const SAMPLES_MAX = 150;
const EVERY_MS = 2000;

export const status = signal<Status | null>(null);
export const refusal = signal<string | null>(null);
export const samples = signal<Sample[]>([]);

type Buckets = [number, number][]; // upper edge in seconds, how many up to it

function syncBuckets(metrics: string): Buckets {
  const found = metrics.matchAll(/^tenure_sync_seconds_bucket\{le="([^"]+)"\} (\S+)/gm);
  return [...found].map(([, edge, count]) => [edge === "+Inf" ? Infinity : Number(edge), Number(count)]);
}

// The edge below which 99 of 100 of those lie that came between two looks.
function slowest(before: Buckets, after: Buckets): number | null {
  const grown = after.map(([edge, count], i): [number, number] => [edge, count - (before[i]?.[1] ?? 0)]);
  const all = grown[grown.length - 1]?.[1] ?? 0;
  if (all <= 0) return null;
  const edge = grown.find(([, count]) => count >= all * 0.99)?.[0] ?? Infinity;
  return Number.isFinite(edge) ? edge * 1000 : null;
}

const sum = (parts: Record<string, number>): number => Object.values(parts).reduce((all, each) => all + each, 0);

interface Look {
  at: number;
  status: Status;
  buckets: Buckets;
}
let previous: Look | null = null;

function sampled(from: Look, to: Look): Sample | null {
  const seconds = (to.at - from.at) / 1000;
  const grown = (of: (status: Status) => number): number => of(to.status) - of(from.status);
  // A restarted server counts from 0.
  if (seconds <= 0 || grown((each) => each.server.uptime_in_seconds) < 0) return null;
  const syncs = grown((each) => each.journal.sync_seconds["count"] ?? 0);
  return {
    at: to.at / 1000,
    submitted: grown((each) => each.work.tasks_submitted) / seconds,
    granted: grown((each) => sum(each.work.leases_granted)) / seconds,
    completed: grown((each) => each.work.tasks_ended["completed"] ?? 0) / seconds,
    records: grown((each) => each.journal.durable_frame) / seconds,
    syncMean: syncs > 0 ? (1000 * grown((each) => each.journal.sync_seconds["sum"] ?? 0)) / syncs : null,
    syncSlowest: slowest(from.buckets, to.buckets),
  };
}

async function look(): Promise<void> {
  const asked = Date.now();
  const answer = await get<Status>("/v1/status");
  heardTime(answer.server.time_ms, asked);
  const seen = { at: Date.now(), status: answer, buckets: syncBuckets(await getText("/metrics")) };
  const sample = previous && sampled(previous, seen);
  if (sample) samples.value = [...samples.value, sample].slice(-SAMPLES_MAX);
  previous = seen;
  status.value = answer;
  refusal.value = null;
}

let isLooking = false;
async function lookOnce(): Promise<void> {
  if (isLooking || document.hidden) return;
  isLooking = true;
  try {
    await look();
  } catch (error) {
    if (error instanceof Refused) refusal.value = error.message;
  } finally {
    isLooking = false;
  }
}

export function followStanding(): void {
  setInterval(() => void lookOnce(), EVERY_MS);
  document.addEventListener("visibilitychange", () => void lookOnce());
}

// At once, for somebody who has just come.
export function refreshStanding(): void {
  void lookOnce();
}

// Of all queues.
export function taskTotals(of: Status): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const [name, parts] of Object.entries(of.work)) {
    if (!name.startsWith("tasks_") || typeof parts === "number" || !("waiting" in parts)) continue;
    for (const [state, each] of Object.entries(parts)) totals[state] = (totals[state] ?? 0) + each;
  }
  return totals;
}
