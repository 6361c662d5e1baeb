// What the records tell that a person wants to see later: failures, and when extensions and late reports came.
import { signal } from "@preact/signals";
import type { Told } from "./replies";
import { listen } from "./stream";

export interface Failing {
  id: string;
  at: number;
  what: string;
  name: string;
  link: string[];
  reason: string;
}

const FAILINGS_MAX = 30;
const MARKED_MAX = 2000;

// The newest first.
export const failings = signal<Failing[]>([]);

const FAILURES: Record<string, string> = {
  TaskFailed: "failed",
  TaskDead: "dead",
  LeaseExpired: "lease expired",
  TaskCancelled: "late report refused",
  WorkRetried: "failed, will be retried",
  WorkGivenUp: "given up",
  WorkExpired: "lease expired",
  LockExpired: "lock expired",
  LockForced: "lock forced",
};

function reasonOf(told: Told): string {
  return String(told.failure_reason ?? told.reason ?? "");
}

function whatOf(told: Told): string {
  const word = FAILURES[told.record] ?? told.record;
  return told.record === "TaskFailed" && told.next_state === "WAITING" ? "failed, will be retried" : word;
}

function noteFailing(id: string, told: Told): void {
  const link = told.task_id ? ["tasks", told.task_id] : told.identifier ? ["locks"] : ["domains", told.domain ?? ""];
  const name =
    told.task_id ?? (told.identifier ? `${told.domain}::${told.identifier}` : `${told.domain} @ ${told.offset}`);
  pending.push({ id, at: told.at, what: whatOf(told), name, link, reason: reasonOf(told) });
  if (pending.length > FAILINGS_MAX) pending.shift();
}

const pending: Failing[] = [];

// Called with each beat: signals are not changed five thousand times a second.
export function takeFailings(): void {
  if (!pending.length) return;
  failings.value = [...pending.reverse(), ...failings.peek()].slice(0, FAILINGS_MAX);
  pending.length = 0;
}

// --- marks on the timeline of a task, which its history counts but has no times of ---

export interface Mark {
  kind: "extended" | "late";
  at: number;
  fence: number | undefined;
}

const marks = new Map<string, Mark[]>();

function mark(id: string, one: Mark): void {
  const known = marks.get(id);
  if (known) {
    if (known.length < 100) known.push(one);
    return;
  }
  marks.set(id, [one]);
  if (marks.size > MARKED_MAX) marks.delete(marks.keys().next().value!);
}

export const marksOf = (id: string): Mark[] => marks.get(id) ?? [];

export function followHappenings(): void {
  listen(({ id, told }) => {
    if (told.record in FAILURES) noteFailing(id, told);
    if (told.record === "LeaseExtended") mark(told.task_id!, { kind: "extended", at: told.at, fence: told.fence });
    if (told.record === "TaskCancelled") mark(told.task_id!, { kind: "late", at: told.at, fence: told.fence });
  });
}
