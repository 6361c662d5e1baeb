// The leases that are known to run now: from the records as they come, and from what was there before.
import { get, list, path } from "./api";
import { now } from "./clock";
import type { Domain, Lock, Queue, Task, TaskEntry, Told } from "./replies";
import { gaps, listen } from "./stream";

export interface Lease {
  kind: "task" | "work" | "lock";
  name: string;
  holder: string;
  expires: number;
  link: string[];
}

// Of those that end soonest a person sees a few; more are kept so that they are found when those have gone.
const KEPT_MAX = 5000;
const SEEDED_MAX = 30;

const leases = new Map<string, Lease>();

const task = (id: string): string => `t ${id}`;
const work = (domain: string): string => `w ${domain}`;
const lock = (space: string, domain: string, identifier: string): string => `l ${space}::${domain}::${identifier}`;

function keep(key: string, lease: Lease): void {
  if (leases.size < KEPT_MAX || leases.has(key)) leases.set(key, lease);
}

function prolong(key: string, expires: number | undefined): void {
  const lease = leases.get(key);
  if (lease && expires !== undefined) lease.expires = Math.max(lease.expires, expires);
}

function keepTask(id: string, holder: string, expires: number): void {
  keep(task(id), { kind: "task", name: id, holder, expires, link: ["tasks", id] });
}

function keepWork(domain: string, offset: unknown, expires: number): void {
  keep(work(domain), { kind: "work", name: domain, holder: `offset ${offset}`, expires, link: ["domains", domain] });
}

function keepLock(space: string, one: { domain: string; identifier: string; owner: string }, expires: number): void {
  const name = `${one.domain}::${one.identifier}`;
  keep(lock(space, one.domain, one.identifier), { kind: "lock", name, holder: one.owner, expires, link: ["locks"] });
}

function hear(told: Told): void {
  const id = told.task_id ?? "";
  const domain = told.domain ?? "";
  const key = lock(told.space ?? "soft-locks", domain, told.identifier ?? "");
  switch (told.record) {
    case "LeaseGranted":
      return keepTask(id, told.worker_id ?? "", told.lease_expiry ?? 0);
    case "LeaseExtended":
      return prolong(task(id), told.new_lease_expiry);
    case "TaskCompleted":
    case "TaskFailed":
    case "TaskDead":
    case "LeaseExpired":
      leases.delete(task(id));
      return;
    case "WorkAcquired":
      return told.lease_expiry === undefined ? undefined : keepWork(domain, told.offset, told.lease_expiry);
    case "WorkExtended":
      return prolong(work(domain), told.new_lease_expiry);
    case "WorkSucceeded":
    case "WorkGivenUp":
    case "WorkExpired":
      leases.delete(work(domain));
      return;
    case "LockGranted":
      return keepLock(
        told.space ?? "soft-locks",
        { domain, identifier: told.identifier ?? "", owner: told.owner ?? "" },
        told.lease_expiry ?? 0,
      );
    case "LockReentered":
    case "LockExtended":
      return prolong(key, told.new_lease_expiry ?? told.lease_expiry);
    case "LockReleased":
      if (!told["holds"]) leases.delete(key);
      return;
    case "LockExpired":
    case "LockForced":
      leases.delete(key);
  }
}

// What was there before the first record came. Some of it, where there is much.
async function seed(): Promise<void> {
  const { entries: queues } = await list<Queue>("/v1/queues", "queues", 100);
  let room = SEEDED_MAX;
  for (const { queue } of queues.filter((each) => each.leased > 0)) {
    if (room <= 0) break;
    const { entries } = await list<TaskEntry>(path("v1", "queues", queue, "tasks"), "tasks", room, { state: "LEASED" });
    room -= entries.length;
    const tasks = await Promise.all(entries.map((entry) => get<Task>(path("v1", "tasks", entry.task_id)).catch(() => null)));
    for (const each of tasks) if (each?.expires_at) keepTask(each.task_id, each.worker ?? "", each.expires_at);
  }
  const { entries: locks } = await list<Lock>("/v1/locks", "locks", 200);
  for (const each of locks) keepLock("soft-locks", each, each.expires_at);
  const { entries: domains } = await list<string>("/v1/work", "domains", SEEDED_MAX);
  const states = await Promise.all(domains.map((name) => get<Domain>(path("v1", "work", name)).catch(() => null)));
  for (const each of states) if (each?.expires_at) keepWork(each.domain, each.offset, each.expires_at);
}

// Anew, after records were missed.
export function followLeases(): void {
  listen(({ told }) => hear(told));
  let seen = -1;
  gaps.subscribe((times) => {
    if (seen >= 0 && times !== seen) refreshLeases();
    seen = times;
  });
}

export function refreshLeases(): void {
  leases.clear();
  seed().catch(() => undefined);
}

// Those that end soonest. What ended by time without a record that came is left out after a while.
export function endingSoonest(most: number): Lease[] {
  const overdue = now() - 5000;
  const found: Lease[] = [];
  for (const [key, lease] of leases) {
    if (lease.expires < overdue) {
      leases.delete(key);
      continue;
    }
    const last = found[most - 1];
    if (last && last.expires <= lease.expires) continue;
    let at = Math.min(found.length, most - 1);
    while (at > 0 && found[at - 1]!.expires > lease.expires) --at;
    found.splice(at, 0, lease);
    if (found.length > most) found.length = most;
  }
  return found;
}
