// Every page, in both themes and at both widths: it shows what is there, nothing sticks out, axe-core finds nothing.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { closePage, expectAccessible, expectFits, launch, openPage, shoot } from "./browser.mjs";
import { furnish, runTwice, Tenured } from "./tenured.mjs";

// Name, path, and what is seen there.
const PAGES = [
  ["overview", "#/", ["Throughput", "Sync latency", "Leases about to expire", "Recent failures", "leader"]],
  ["queues", "#/queues", ["mail", "images", "invoices", "paused"]],
  ["queue", "#/queues/mail", ["WAITING", "COMPLETED", "T1"]],
  ["task", "#/tasks/T1", ["ran 2 times", "W1", "W2", "late report refused"]],
  ["domains", "#/domains", ["account-1", "account-5", "IN FLIGHT"]],
  ["domain", "#/domains/account-3", ["Done intervals", "Backlog", "Given up", "1 – 5"]],
  ["locks", "#/locks", ["orders::12345", "checkout-1", "Force release"]],
  ["workers", "#/workers", ["resizer-0", "W1"]],
  ["journal", "#/journal", ["TaskCreated"]],
  ["cluster", "#/cluster", ["leader", "healthy", "Last fence"]],
];

async function expectSeen(page, words) {
  for (const word of words) await page.locator("main").getByText(word).first().waitFor();
}

describe("pages", () => {
  let server;
  let browser;
  before(async () => {
    [server, browser] = await Promise.all([Tenured.start(), launch()]);
    await runTwice(server, "mail", "T1");
    await furnish(server);
  });
  after(async () => {
    await browser?.close();
    await server?.end();
  });

  for (const [theme, width, height] of [["light", 1920, 1080], ["dark", 375, 812]]) {
    test(`all of them, ${theme}, ${width} pixels wide`, async () => {
      const page = await openPage(browser, server, { theme, width, height });
      for (const [name, path, words] of PAGES) {
        await page.goto(`${server.url}/${path}`);
        // Something that happens while the journal is looked at.
        if (name === "journal") {
          await page.getByText("No record has come").waitFor();
          for (let i = 0; i < 8; ++i) await server.post("/v1/queues/reports/tasks", { payload: "p", delay_ms: 900_000 });
        }
        await expectSeen(page, words);
        await expectFits(page, name);
        await expectAccessible(page, `${name}, ${theme}, ${width}`);
        if (width === 375 && ["overview", "task"].includes(name)) await shoot(page, `${name}-narrow-dark`);
      }
      await closePage(page);
    });
  }

  test("screenshots, and the theme that somebody chooses", async () => {
    const page = await openPage(browser, server);
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await ground();
    await page.getByLabel("Theme").selectOption("dark");
    const dark = await ground();
    assert.notEqual(light, dark);
    await page.reload();
    assert.equal(await ground(), dark);
    await page.getByLabel("Theme").selectOption("system");
    assert.equal(await ground(), light);
    if (process.env.SCREENSHOTS) {
      // Time for the charts to have some points, and a few things that go wrong.
      for (let i = 0; i < 24; ++i) {
        await server.post("/v1/queues/mail/tasks", { payload: "x" });
        const { leases } = await server.post("/v1/lease", { worker: `mailer-${i % 4}`, queues: ["mail"], lease_ms: 9000 + 500 * i });
        const [{ task_id, lease_id }] = leases;
        if (i % 6 === 5) await server.post(`/v1/tasks/${task_id}/fail`, { lease_id, reason: "450 mailbox busy" });
        else if (i % 3) await server.post(`/v1/tasks/${task_id}/complete`, { lease_id });
        await page.waitForTimeout(500);
      }
      for (const [name, path, words] of PAGES) {
        await page.evaluate((hash) => (location.hash = hash), name === "queue" ? `${path}?state=COMPLETED` : path);
        if (name === "journal") {
          await page.getByText("No record has come").waitFor();
          await runTwice(server, "parcels", "P1");
          await server.post("/v1/locks/stock/1/acquire", { owner: "shop", lease_ms: 60_000 });
        } else if (name !== "queue") {
          await expectSeen(page, words);
        }
        await page.locator(".loading").waitFor({ state: "detached" });
        await page.waitForTimeout(700);
        await shoot(page, name);
      }
    }
    await closePage(page);
  });

  test("the whole console is small, and says that nothing comes from elsewhere", async () => {
    let bytes = 0;
    for (const path of ["/", "/console.js", "/console.css", "/console.svg"]) {
      const reply = await fetch(server.url + path, { headers: { "Accept-Encoding": "gzip" } });
      assert.equal(reply.status, 200);
      assert.match(reply.headers.get("content-security-policy"), /default-src 'none'; script-src 'self'/);
      assert.equal(reply.headers.get("content-encoding"), "gzip");
      bytes += Number(reply.headers.get("content-length"));
      const again = await fetch(server.url + path, { headers: { "If-None-Match": reply.headers.get("etag") } });
      assert.equal(again.status, 304);
    }
    assert.ok(bytes < 300_000, `${bytes} bytes`);
  });
});

describe("empty pages", () => {
  test("say what to do", async () => {
    const [server, browser] = await Promise.all([Tenured.start(), launch()]);
    try {
      const page = await openPage(browser, server);
      for (const [path, words] of [
        ["#/", ["No queue yet.", "tenure demo --live", "Nothing is leased.", "No failure since"]],
        ["#/queues", ["No queue yet.", "curl "]],
        ["#/queues/none", ["There is no task in none.", "curl "]],
        ["#/tasks/none", ["There is no such task."]],
        ["#/domains", ["No domain yet.", "curl "]],
        ["#/domains/none", ["There is no such domain."]],
        ["#/locks", ["No lock is held.", "curl "]],
        ["#/workers", ["No worker has asked", "curl "]],
        ["#/journal", ["No record has come", "tenure demo --live"]],
        ["#/nowhere", ["The address leads nowhere."]],
      ]) {
        await page.evaluate((hash) => (location.hash = hash), path);
        await expectSeen(page, words);
        await expectAccessible(page, path);
      }
      await closePage(page);
    } finally {
      await browser.close();
      await server.end();
    }
  });
});
