// What the HTTP API answers, as far as the console looks at it. docs/protocol.md has the meaning of each field.

// Offsets and fences beyond 2^53 come as bigint, see api.ts.
export type Whole = number | bigint;

export interface Queue {
  queue: string;
  waiting: number;
  delayed: number;
  leased: number;
  completed: number;
  failed: number;
  dead: number;
  paused: boolean;
}

export type TaskState = "WAITING" | "LEASED" | "COMPLETED" | "FAILED" | "DEAD";
export const TASK_STATES: TaskState[] = ["WAITING", "LEASED", "COMPLETED", "FAILED", "DEAD"];

export interface TaskEntry {
  task_id: string;
  state: TaskState;
  attempt: number;
}

export interface Task extends TaskEntry {
  queue: string;
  failures: number;
  priority: number;
  key: string | null;
  created_at: number;
  not_before: number | null;
  fence: Whole | null;
  worker: string | null;
  expires_at: number | null;
  result?: string | null;
  result_base64?: string;
  reason?: string | null;
  reason_base64?: string;
  late: number;
}

export interface Attempt {
  attempt: number;
  worker: string;
  fence: Whole;
  granted_at: number;
  ended_at: number | null;
  outcome: "LEASED" | "COMPLETED" | "FAILED" | "EXPIRED" | "KILLED";
  reason?: string | null;
  extensions: number;
  late: number;
}

export interface Domain {
  domain: string;
  state: "IDLE" | "IN_FLIGHT";
  offset: Whole | null;
  fence: Whole | null;
  retry_count: number | null;
  acquired_at: number | null;
  expires_at: number | null;
  backlog: number;
  backlog_head: Whole | null;
  processed: Whole;
  failed: number;
  trimmed_below: Whole;
}

export interface Interval {
  first: Whole;
  last: Whole;
}

export interface Lock {
  domain: string;
  identifier: string;
  owner: string;
  fence: Whole;
  holds: number;
  granted_at: number;
  expires_at: number;
  remaining_ms: number;
  waiters: number;
}

export interface Worker {
  worker: string;
  leases: number;
  last_seen: number;
}

export interface Right {
  role: "submit" | "work" | "lock" | "read" | "admin";
  pattern: string | null;
}

export interface User {
  user: string | null;
  roles: Right[];
}

type Parts = Record<string, number>;

export interface Status {
  server: {
    tenure_version: string;
    uptime_in_seconds: number;
    time_ms: number;
    addresses: string;
    http_addresses: string;
    data?: string;
    role: string;
    loading: boolean;
    stopping: boolean;
    restarts: number;
    replay_seconds: number;
  };
  clients: { connections: number; connections_max: number; waiters: Parts; requests_refused: Parts };
  state: { state_bytes: number; state_bytes_max: number; tasks: number; work_domains: number; locks: number; fence: number };
  journal: {
    durability: string;
    durable_frame: number;
    has_room: boolean;
    journal_bytes: number;
    snapshot_bytes: number;
    disk_free_bytes: number;
    journal_written_bytes: number;
    sync_seconds: Parts;
  };
  work: Record<string, number | Parts> & {
    queues: number;
    tasks_submitted: number;
    tasks_ended: Parts;
    leases_granted: Parts;
    leases_expired: Parts;
    late_reports_refused: number;
    retries: Parts;
  };
  // What a node among several tells of the others.
  cluster?: Record<string, unknown> & { nodes?: ClusterNode[] };
}

export interface ClusterNode {
  address: string;
  http: string;
  role: string;
  applied_frame: number;
  lag_frames: number;
}

// A record of the journal, as /v1/events tells it.
export interface Told {
  record: string;
  at: number;
  task_id?: string;
  queue?: string;
  worker_id?: string;
  domain?: string;
  identifier?: string;
  owner?: string;
  space?: string;
  offset?: Whole;
  fence?: number;
  attempt?: number;
  lease_expiry?: number;
  new_lease_expiry?: number;
  failure_reason?: string;
  reason?: string;
  next_state?: string;
  [field: string]: unknown;
}
