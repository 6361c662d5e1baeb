// What people do with the console: find out why a task ran twice, take a lock away, kill, resubmit, pause; by keyboard.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { closePage, expectAccessible, launch, openPage } from "./browser.mjs";
import { lease, runTwice, Tenured, untilState } from "./tenured.mjs";

describe("actions", () => {
  let server;
  let browser;
  before(async () => {
    [server, browser] = await Promise.all([Tenured.start(), launch()]);
  });
  after(async () => {
    await browser?.close();
    await server?.end();
  });

  test("the timeline of a task that ran twice, as it happens", async () => {
    const page = await openPage(browser, server, { path: "#/tasks/T1" });
    await page.getByText("There is no such task.").waitFor();
    await runTwice(server, "mail", "T1");
    const picture = page.getByRole("img", { name: /Attempts on a time axis/ });
    await page.locator(".badge", { hasText: "COMPLETED" }).first().waitFor();
    await page.locator(".timeline path.late").waitFor();
    const told = await picture.getAttribute("aria-label");
    assert.match(told, /Attempt 1 by W1, fence 1: expired after .*, extended once, late report refused\./);
    assert.match(told, /Attempt 2 by W2, fence 2: completed after /);
    // The bars lie where the history says: the second begins behind the end of the first.
    const bars = await page.locator(".timeline rect.bar").evaluateAll((all) => all.map((bar) => {
      const { left, right, top } = bar.getBoundingClientRect();
      return { kind: bar.getAttribute("class"), left, right, top };
    }));
    assert.deepEqual(bars.map(({ kind }) => kind), ["bar expired", "bar completed"]);
    assert.ok(bars[0].right <= bars[1].left + 1 && bars[0].top < bars[1].top, JSON.stringify(bars));
    // The extension and the late report were seen as they came, so they have their place in time.
    assert.equal(await page.locator(".timeline line.extended").count(), 1);
    const late = await page.locator(".timeline path.late").boundingBox();
    const picked = await picture.boundingBox();
    assert.ok(late.x + late.width / 2 >= bars[1].right - 2, "the late report came after the second attempt");
    assert.ok(late.x + late.width < picked.x + picked.width - 12, "and not at the end of the axis, where it would be unknown");
    await closePage(page);
  });

  test("a task that is killed and resubmitted", async () => {
    await server.post("/v1/queues/kills/tasks", { payload: "p", id: "K1" });
    await lease(server, "W3", "kills", 60_000);
    const page = await openPage(browser, server, { path: "#/tasks/K1" });
    await page.getByRole("button", { name: "Kill" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("W3, who holds it now, is not stopped").waitFor();
    await expectAccessible(page, "the dialog");
    await dialog.getByLabel("Why?").fill("it loops");
    await dialog.getByRole("button", { name: "Kill the task" }).click();
    await page.locator(".badge", { hasText: "DEAD" }).first().waitFor();
    assert.equal((await untilState(server, "K1", "DEAD")).reason, "it loops");
    await page.getByRole("button", { name: "Resubmit" }).click();
    await page.getByText("Nobody has leased it yet.").waitFor();
    assert.doesNotMatch(page.url(), /K1/);
    await closePage(page);
  });

  test("a lock that is taken away, once somebody has said so", async () => {
    const lock = "/v1/locks/orders/12345";
    const { token, fence } = await server.post(`${lock}/acquire`, { owner: "checkout", lease_ms: 600_000 });
    const page = await openPage(browser, server, { path: "#/locks" });
    const force = page.getByRole("button", { name: "Force release of orders::12345" });
    await force.click();
    const dialog = page.getByRole("dialog");
    for (const words of ["not stopped", `under fence ${fence}`, "checks fences"]) await dialog.getByText(words).first().waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal((await server.get(lock)).owner, "checkout");
    await force.click();
    await dialog.getByRole("button", { name: "Force release" }).click();
    await page.getByText("orders::12345 was taken from checkout.").waitFor();
    assert.equal((await server.get(lock)).error.code, "NOTFOUND");
    assert.equal((await server.post(`${lock}/release`, { token })).error.code, "EXPIRED");
    await closePage(page);
  });

  test("a lock that somebody else holds by then is left alone", async () => {
    const lock = "/v1/locks/orders/777";
    const { token } = await server.post(`${lock}/acquire`, { owner: "one", lease_ms: 600_000 });
    const page = await openPage(browser, server, { path: "#/locks" });
    await page.getByRole("button", { name: "Force release of orders::777" }).click();
    await server.post(`${lock}/release`, { token });
    await server.post(`${lock}/acquire`, { owner: "two", lease_ms: 600_000 });
    await page.getByRole("dialog").getByRole("button", { name: "Force release" }).click();
    await page.getByText("nothing was done").waitFor();
    assert.equal((await server.get(lock)).owner, "two");
    await closePage(page);
  });

  test("a queue that is paused and resumed; tasks by state and page; a task by its id", async () => {
    for (let i = 0; i < 60; ++i) await server.post("/v1/queues/many/tasks", { payload: "p", id: `M${i}` });
    const page = await openPage(browser, server, { path: "#/queues" });
    await page.getByRole("button", { name: "Pause queue many" }).click();
    await page.getByRole("button", { name: "Resume queue many" }).waitFor();
    assert.deepEqual((await server.post("/v1/lease", { worker: "w", queues: ["many"] })).verdict, "NONE");
    await page.getByRole("button", { name: "Resume queue many" }).click();
    await page.getByRole("button", { name: "Pause queue many" }).waitFor();
    await page.getByRole("link", { name: "many", exact: true }).click();
    await page.getByRole("link", { name: /^waiting/ }).click();
    await page.getByText("Page 1").waitFor();
    await page.locator("tbody th").getByText("M49", { exact: true }).waitFor();
    const seen = new Set(await page.locator("tbody th").allTextContents());
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("Page 2").waitFor();
    await page.locator("tbody th").getByText("M59", { exact: true }).waitFor();
    for (const id of await page.locator("tbody th").allTextContents()) seen.add(id);
    assert.equal(seen.size, 60);
    await page.getByRole("button", { name: "Previous" }).click();
    await page.getByText("Page 1").waitFor();
    await page.getByRole("link", { name: /^failed/ }).click();
    await page.getByText("No task of many is failed.").waitFor();
    await page.getByLabel("Task id").fill("M7");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("heading", { level: 1, name: "M7" }).waitFor();
    await closePage(page);
  });

  test("by keyboard alone", async () => {
    await server.post("/v1/locks/keys/1/acquire", { owner: "typist", lease_ms: 600_000 });
    const page = await openPage(browser, server);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent);
    const tabTo = async (wanted) => {
      for (let i = 0; i < 60; ++i) {
        await page.keyboard.press("Tab");
        if ((await focused()).includes(wanted)) return;
      }
      assert.fail(`the focus did not come to ${wanted}`);
    };
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "Skip to the page");
    await tabTo("Locks");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Locks" }).waitFor();
    assert.equal(await focused(), "Locks", "the page's name has the focus");
    await page.getByRole("button", { name: "Force release of keys::1" }).waitFor();
    await tabTo("Force release of keys::1");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal((await server.get("/v1/locks/keys/1")).owner, "typist");
    await closePage(page);
  });
});
