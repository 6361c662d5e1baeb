// Chromium without a window, driven by playwright-core; and what every page is held to.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(process.env.NODE_CLIENTS + "/");

function needed(what, find, remedy) {
  try {
    return find();
  } catch {
    console.error(`console: expected ${what}, found none: ${remedy}`);
    process.exit(1);
  }
}

const { chromium } = needed("playwright-core", () => require("playwright-core"), "run scripts/test_clients");
const axe = needed("axe-core", () => readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"), "run scripts/test_clients");
const program = needed(
  "chromium",
  () => execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim(),
  "run scripts/setup",
);

// The sandbox does not work for root.
export function launch() {
  const args = ["--disable-dev-shm-usage", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])];
  return chromium.launch({ executablePath: program, args });
}

// A page that notes what must not happen: an error, or a request that leaves the server.
export async function openPage(browser, server, { width = 1280, height = 800, theme = "light", path = "#/" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce", timezoneId: "UTC" });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const isExpected = /Failed to load resource/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isExpected) page.faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== server.url) page.faults.push(`a request left the server: ${request.url()}`);
  });
  page.on("dialog", (dialog) => page.faults.push(`the browser asked: ${dialog.message()}`));
  await page.goto(`${server.url}/${path}`);
  return page;
}

export async function closePage(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

// axe-core's rules, all of them.
export async function expectAccessible(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const told = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
  assert.deepEqual(told, [], name);
}

// Nothing sticks out of the page, and no text out of its box.
export async function expectFits(page, name) {
  const stray = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const found = [];
    if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} wide, of ${width}`);
    for (const element of document.querySelectorAll("h1, h2, button, .badge, .figure b, .top > *, .side a, dd, .key, text")) {
      const box = element.getBoundingClientRect();
      const isScrolled = element.closest(".scroll") !== null;
      if (!isScrolled && box.width > 0 && (box.right > width + 1 || box.left < -1)) found.push(`${element.outerHTML.slice(0, 80)} sticks out`);
    }
    return found;
  });
  assert.deepEqual(stray, [], name);
}

// For whoever wants to see: SCREENSHOTS names the folder.
export async function shoot(page, name) {
  if (!process.env.SCREENSHOTS) return;
  mkdirSync(process.env.SCREENSHOTS, { recursive: true });
  const before = page.viewportSize();
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  if (before.width > 600) await page.setViewportSize({ width: before.width, height: Math.min(1400, Math.max(560, whole)) });
  await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });
  await page.setViewportSize(before);
}
