// A real tenured on free ports of this machine, with its data in a folder of its own; and questions over HTTP.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PATIENCE_MS = 60_000; // for hangs, not for speed

export function temporaryFolder() {
  return mkdtempSync(join(tmpdir(), "tenure-console-"));
}

// Two that are free now: a server that is started again keeps them.
export async function freePorts() {
  const servers = await Promise.all(
    [0, 1].map(() => new Promise((done) => {
      const server = createServer().listen(0, "127.0.0.1", () => done(server));
    })),
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

export class Tenured {
  static async start({ flags = [], folder, ports = [0, 0] } = {}) {
    const server = new Tenured();
    server.ownsFolder = folder === undefined;
    server.folder = folder ?? temporaryFolder();
    server.log = "";
    server.process = spawn(
      process.env.TENURED,
      ["--data", server.folder, "--port", String(ports[0]), "--http-port", String(ports[1]), ...flags],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    server.ended = new Promise((done) => server.process.once("exit", done));
    await new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`tenured did not start:\n${server.log}`)), PATIENCE_MS);
      server.process.stderr.setEncoding("utf8").on("data", (text) => {
        server.log += text;
        if (server.log.includes("try: redis-cli")) done(clearTimeout(timer));
      });
      server.ended.then(() => fail(new Error(`tenured has ended:\n${server.log}`)));
    });
    const portOf = (protocol) => Number(new RegExp(`listening.*protocol\\W+${protocol}\\W+address(?:=|":")\\S+:(\\d+)`).exec(server.log)[1]);
    server.port = portOf("resp");
    server.httpPort = portOf("http");
    server.url = `http://127.0.0.1:${server.httpPort}`;
    return server;
  }

  // The answer's JSON, whatever its status.
  async ask(method, path, body, token) {
    const reply = await fetch(this.url + path, {
      method,
      headers: token ? { Authorization: `Basic ${token}` } : {},
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return reply.json();
  }
  get(path, token) {
    return this.ask("GET", path, undefined, token);
  }
  post(path, body = {}, token) {
    return this.ask("POST", path, body, token);
  }

  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }
  async stop() {
    this.process.kill("SIGTERM");
    assert.equal(await this.ended, 0, this.log);
  }
  async end() {
    await this.kill();
    if (this.ownsFolder) rmSync(this.folder, { recursive: true, force: true });
  }
}

// --- things to look at ---

export async function lease(server, worker, queue, leaseMs) {
  const { leases } = await server.post("/v1/lease", { worker, queues: [queue], lease_ms: leaseMs });
  return leases[0];
}

export async function untilState(server, id, state) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const task = await server.get(`/v1/tasks/${id}`);
    if (task.state === state) return task;
    assert.ok(Date.now() < deadline, `task ${id} is ${task.state}, not ${state}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

// A task whose first worker stalls: its lease ends by time, another worker completes it, the first reports too late.
export async function runTwice(server, queue, id, leaseMs = 700) {
  await server.post(`/v1/queues/${queue}/tasks`, { payload: "send the invoice", id, priority: 9 });
  const first = await lease(server, "W1", queue, leaseMs);
  assert.equal(first.task_id, id);
  await new Promise((done) => setTimeout(done, leaseMs / 2)); // as long as the worker works, in its picture
  assert.equal((await server.post(`/v1/tasks/${id}/extend`, { lease_id: first.lease_id })).verdict, "EXTENDED");
  await untilState(server, id, "WAITING");
  const second = await lease(server, "W2", queue, 60_000);
  await new Promise((done) => setTimeout(done, leaseMs / 2));
  const done = await server.post(`/v1/tasks/${id}/complete`, { lease_id: second.lease_id, result: "sent" });
  assert.equal(done.verdict, "COMMITTED");
  const late = await server.post(`/v1/tasks/${id}/complete`, { lease_id: first.lease_id });
  assert.equal(late.verdict, "CANCELLED");
}

// A bit of everything.
export async function furnish(server) {
  for (const [queue, tasks] of [["mail", 12], ["images", 8], ["invoices", 5], ["reports", 2]]) {
    for (let i = 0; i < tasks; ++i) await server.post(`/v1/queues/${queue}/tasks`, { payload: `${queue} ${i}` });
  }
  for (let i = 0; i < 4; ++i) await lease(server, `resizer-${i}`, "images", 60_000 + 30_000 * i);
  const failing = await lease(server, "ledger-1", "invoices", 60_000);
  await server.post(`/v1/tasks/${failing.task_id}/fail`, { lease_id: failing.lease_id, reason: "the ledger is closed", final: true });
  await server.post("/v1/queues/reports/pause");
  for (let domain = 1; domain <= 5; ++domain) {
    for (let offset = 1; offset <= 12; ++offset) {
      const taken = await server.post(`/v1/work/account-${domain}/acquire`, { offset: offset * (offset > 5 ? 2 : 1), lease_ms: 600_000 });
      if (taken.verdict === "ACQUIRED" && offset < 9 - domain / 2) {
        await server.post(`/v1/work/account-${domain}/succeed`, { token: taken.token });
      }
    }
  }
  for (let i = 0; i < 6; ++i) {
    await server.post(`/v1/locks/orders/${12345 + i}/acquire`, { owner: `checkout-${i + 1}`, lease_ms: 120_000 + 60_000 * i });
  }
}
