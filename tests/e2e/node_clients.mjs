// ioredis and node-redis with their defaults: they connect, ask, pipeline and block.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.env.NODE_CLIENTS + "/");
const Redis = require("ioredis");
const { createClient } = require("redis");
const port = Number(process.argv[2]);

async function withIoredis() {
  const client = new Redis({ port, host: "127.0.0.1", retryStrategy: null });
  const other = client.duplicate();
  assert.equal(await client.ping(), "PONG");
  const [task, verdict] = await client.call("TASK.SUBMIT", "io", "payload");
  assert.equal(verdict, "CREATED");
  const [lease] = await client.call("TASK.LEASE", "w", "1", "io");
  assert.deepEqual(lease.slice(0, 2), ["task_id", task]);
  assert.equal(await client.call("TASK.COMPLETE", task, lease[3]), "COMMITTED");
  await assert.rejects(client.call("TASK.KILL", task, "late"), /^ReplyError: TERMINAL /);

  const pipeline = client.pipeline();
  for (let i = 0; i < 500; i++) pipeline.call("LOCK.ACQUIRE", "io", `lock ${i}`, "me");
  const grants = await pipeline.exec();
  assert.equal(grants.filter(([error, grant]) => error === null && grant[3] === 1).length, 500);

  const waiting = other.call("TASK.LEASE", "w", "1", "io", "BLOCK", "60000");
  await client.call("TASK.SUBMIT", "io", "later");
  assert.equal((await waiting)[0][17], "later");
  assert.deepEqual(await other.call("TASK.LEASE", "w", "1", "io", "BLOCK", "20"), []);
  client.disconnect();
  other.disconnect();
}

async function withNodeRedis(RESP) {
  const client = await createClient({ url: `redis://127.0.0.1:${port}`, RESP }).connect();
  assert.equal(await client.ping(), "PONG");
  const [token, fence, , holds] = await client.sendCommand(["LOCK.ACQUIRE", "node", `resp ${RESP}`, "me"]);
  assert.equal(holds, 1);
  assert.ok(token.startsWith(`${fence}-`));
  const status = await client.sendCommand(["LOCK.GET", "node", `resp ${RESP}`]);
  assert.equal(RESP === 3 ? status.owner : status[5], "me");
  const answers = await Promise.all(
    Array.from({ length: 500 }, (_, i) => client.sendCommand(["TASK.SUBMIT", `q${RESP}`, `payload ${i}`])));
  assert.ok(answers.every(([, verdict]) => verdict === "CREATED"));
  await assert.rejects(client.sendCommand(["LOCK.RELEASE", "node", "nothing", "x"]), /NOTHELD/);
  client.destroy();
}

await withIoredis();
await withNodeRedis(2);
await withNodeRedis(3);
console.log("ioredis and node-redis: all as expected");
