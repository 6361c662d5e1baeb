// Where users are configured: signing in and being refused, and that actions are there for those alone who may.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { closePage, expectAccessible, expectFits, launch, openPage, shoot } from "./browser.mjs";
import { temporaryFolder, Tenured } from "./tenured.mjs";

const USERS = { root: ["admin", "submit", "lock"], joe: ["read"], ann: ["submit:mail.*", "admin:mail.*"] };
const tokenOf = (name) => Buffer.from(`${name}:${name}'s password`).toString("base64");

async function signIn(page, name, password = `${name}'s password`) {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

describe("users", () => {
  let server;
  let browser;
  const folder = temporaryFolder();
  before(async () => {
    const file = join(folder, "users");
    for (const [name, roles] of Object.entries(USERS)) {
      const given = roles.flatMap((role) => ["--role", role]);
      const added = spawnSync(process.env.TENURE, ["user", "add", "--users", file, name, ...given], { input: `${name}'s password\n` });
      assert.equal(added.status, 0, String(added.stderr));
    }
    [server, browser] = await Promise.all([Tenured.start({ flags: ["--users", file] }), launch()]);
    await server.post("/v1/queues/mail.in/tasks", { payload: "p", id: "T1" }, tokenOf("root"));
    await server.post("/v1/locks/orders/1/acquire", { owner: "me", lease_ms: 600_000 }, tokenOf("root"));
  });
  after(async () => {
    await browser?.close();
    await server?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a stranger is asked to sign in, by the page and not by the browser, and a wrong password is refused", async () => {
    const page = await openPage(browser, server, { path: "#/locks" });
    await page.getByRole("heading", { name: "Sign in to Tenure" }).waitFor();
    await expectAccessible(page, "sign-in");
    await expectFits(page, "sign-in");
    await shoot(page, "sign-in");
    await signIn(page, "root", "wrong");
    await page.getByRole("alert").getByText("does not know this name and password").waitFor();
    await signIn(page, "root");
    await page.getByRole("heading", { level: 1, name: "Locks" }).waitFor();
    await page.getByText("orders::1").first().waitFor();
    await closePage(page);
  });

  test("an admin sees actions; who signs out is a stranger again, and nothing is kept behind the tab", async () => {
    const page = await openPage(browser, server, { path: "#/locks" });
    await signIn(page, "root");
    await page.getByRole("button", { name: "Force release of orders::1" }).waitFor();
    assert.doesNotMatch(await page.evaluate(() => JSON.stringify(localStorage)), /cm9vd/);
    await page.reload();
    await page.getByRole("button", { name: "Force release of orders::1" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Tenure" }).waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await closePage(page);
  });

  test("who may only look sees no actions", async () => {
    const page = await openPage(browser, server, { path: "#/locks" });
    await signIn(page, "joe");
    await page.getByText("orders::1").first().waitFor();
    assert.equal(await page.getByRole("button", { name: /Force/ }).count(), 0);
    await page.goto(`${server.url}/#/tasks/T1`);
    await page.getByText("Nobody has leased it yet.").waitFor();
    assert.equal(await page.getByRole("button", { name: /Kill|Resubmit/ }).count(), 0);
    await page.goto(`${server.url}/#/queues`);
    await page.getByRole("link", { name: "mail.in" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /Pause/ }).count(), 0);
    await closePage(page);
  });

  test("who has roles for some names is told what they may not see, and may act where they may", async () => {
    const page = await openPage(browser, server);
    await signIn(page, "ann");
    await page.getByText("You may not see how the server stands.").waitFor();
    await page.getByText("expected a user with role read or admin for every name").first().waitFor();
    await page.evaluate(() => (location.hash = "#/journal"));
    await page.getByText("You may not see the journal.").waitFor();
    await page.evaluate(() => (location.hash = "#/queues/mail.in"));
    await page.getByRole("link", { name: "T1" }).click();
    await page.getByRole("button", { name: "Kill" }).waitFor();
    await expectAccessible(page, "a task, for ann");
    await closePage(page);
  });
});
