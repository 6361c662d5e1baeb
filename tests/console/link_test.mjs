// When the server goes and comes back; and when it has more to tell than anybody can read.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { closePage, expectAccessible, launch, openPage, shoot } from "./browser.mjs";
import { freePorts, temporaryFolder, Tenured } from "./tenured.mjs";

describe("the link to the server", () => {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(async () => browser?.close());

  test("it says so when the server is gone, and goes on when it is back", async () => {
    const folder = temporaryFolder();
    const ports = await freePorts();
    let server = await Tenured.start({ folder, ports });
    try {
      const page = await openPage(browser, server, { path: "#/locks" });
      await server.post("/v1/locks/orders/1/acquire", { owner: "before", lease_ms: 600_000 });
      await page.getByText("orders::1").first().waitFor();
      await server.kill();
      await page.getByText("The server does not answer.").waitFor();
      assert.ok(await page.getByText("orders::1").first().isVisible(), "what was seen before stays");
      await expectAccessible(page, "without a server");
      await shoot(page, "lost");
      // The stream comes back later than all else, and says so.
      await page.route("**/v1/events", async (route) => {
        await new Promise((done) => setTimeout(done, 3000));
        await route.continue();
      });
      server = await Tenured.start({ folder, ports });
      await page.getByText("The server does not answer.").waitFor({ state: "detached" });
      await server.post("/v1/locks/orders/2/acquire", { owner: "after", lease_ms: 600_000 });
      await page.getByText("orders::2").first().waitFor();
      // Records come again, too: those from when it listens on.
      await page.evaluate(() => (location.hash = "#/journal"));
      await page.getByText("Records do not come yet.").waitFor();
      await page.getByText("records/s").waitFor();
      await server.post("/v1/locks/orders/3/acquire", { owner: "after", lease_ms: 600_000 });
      await page.locator("main").getByText("orders::3").first().waitFor();
      await closePage(page);
    } finally {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("pausing the journal, and its filter", async () => {
    const server = await Tenured.start();
    try {
      const page = await openPage(browser, server, { path: "#/journal" });
      await page.getByText("No record has come").waitFor();
      await server.post("/v1/locks/orders/1/acquire", { owner: "me" });
      await server.post("/v1/queues/mail/tasks", { payload: "p", id: "T1" });
      await page.getByText("TaskCreated").waitFor();
      await page.getByLabel("Book").selectOption("locks");
      await page.getByText("TaskCreated").waitFor({ state: "detached" });
      await page.getByText("LockGranted").waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      await server.post("/v1/locks/orders/2/acquire", { owner: "me" });
      await page.getByText("1 more meanwhile").waitFor();
      assert.equal(await page.getByText("orders::2").count(), 0);
      await page.getByRole("button", { name: "Go on" }).click();
      await page.getByText("orders::2").waitFor();
      await page.getByLabel("Contains").fill("orders::nothing");
      await page.getByText("No record that has come passes the filter.").waitFor();
      await closePage(page);
    } finally {
      await server.end();
    }
  });

  test("a tab that nobody looks at gives its stream back, and misses nothing", async () => {
    const server = await Tenured.start();
    try {
      const page = await openPage(browser, server, { path: "#/journal" });
      await page.getByText("No record has come").waitFor();
      await server.post("/v1/locks/orders/1/acquire", { owner: "me" });
      await page.getByText("orders::1").waitFor();
      const show = (isHidden) =>
        page.evaluate((hidden) => {
          Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }, isHidden);
      const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/v1/events"));
      await show(true);
      await ended;
      await server.post("/v1/locks/orders/2/acquire", { owner: "me" });
      await show(false);
      await page.getByText("orders::2").waitFor();
      assert.equal(await page.getByText("LockGranted").count(), 2, "each is there once");
      await closePage(page);
    } finally {
      await server.end();
    }
  });

  // 2,500 cycles of a lock each second are 5,000 records. The page's own work is measured in processor time, so that
  // a busy machine does not look like a slow page.
  test("it stays smooth at 5,000 records a second", async () => {
    const server = await Tenured.start();
    const socket = connect(server.port, "127.0.0.1");
    let timer;
    try {
      const page = await openPage(browser, server, { path: "#/journal" });
      await page.getByText("No record has come").waitFor();
      const talk = await page.context().newCDPSession(page);
      const replies = [];
      let rest = "";
      const say = (...words) => socket.write(`*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`);
      // Each grant's token is given back as it comes.
      socket.setEncoding("latin1").on("data", (text) => {
        rest += text;
        for (let found; (found = /\$(\d+)\r\n(\d+-[0-9a-f]{16})\r\n/.exec(rest)); rest = rest.slice(found.index + found[0].length)) {
          say("LOCK.RELEASE", "load", replies.shift(), found[2]);
        }
        rest = rest.slice(-64);
      });
      let name = 0;
      let owed = 0;
      let last = performance.now();
      timer = setInterval(() => {
        owed += (performance.now() - last) * 2.5;
        last = performance.now();
        socket.cork();
        for (; owed >= 1 && replies.length < 2000; --owed) {
          replies.push(`n${++name}`);
          say("LOCK.ACQUIRE", "load", `n${name}`, "loader");
        }
        socket.uncork();
      }, 10);
      await page.getByText(/the newest 100 of/).waitFor();
      await talk.send("Performance.enable", { timeDomain: "threadTicks" });
      const busy = async () => {
        const { metrics } = await talk.send("Performance.getMetrics");
        return metrics.find((each) => each.name === "TaskDuration").value;
      };
      const frame = async () => (await server.get("/v1/status")).journal.durable_frame;
      const [from, records] = [await busy(), await frame()];
      const begin = performance.now();
      await page.waitForTimeout(3000);
      const seconds = (performance.now() - begin) / 1000;
      const share = ((await busy()) - from) / seconds;
      const speed = ((await frame()) - records) / seconds;
      console.log(`${Math.round(speed)} records/s: the page was busy for ${Math.round(share * 100)} % of the time`);
      assert.ok(speed > 500, `only ${speed} records/s were made`);
      assert.ok(share < 0.6, `busy for ${share} of the time`);
      assert.ok((await page.locator("tbody tr").count()) <= 100);
      await page.getByRole("link", { name: "Overview", exact: true }).click();
      await page.getByRole("heading", { name: "Leases about to expire" }).waitFor();
      await closePage(page);
    } finally {
      clearInterval(timer);
      socket.destroy();
      await server.end();
    }
  });
});
