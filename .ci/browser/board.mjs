// Tries the collector's page in a real Chromium: node board.mjs PROGRAMS CHROMIUM STORE [SHOTS].
//
// It starts gate collect on a STORE that .ci/fleet has filled with a machine of hostile names,
// and looks at every view in light, dark and 360 px with axe-core, for each role.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [programs, browserPath, store, shots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const root = mkdtempSync(join(tmpdir(), "gate-board-"));
const step = (text) => console.log("board: " + text);
const roles = ["reader", "reviewer", "administrator"];
const tokenOf = (role) => "token-of-the-" + role;
writeFileSync(join(root, "roles"), roles.map((r) => `token ${r} ${r}-1 ${createHash("sha256").update(tokenOf(r)).digest("hex")}\n`).join(""), { mode: 0o600 });

const server = spawn(join(programs, "gate-server"), ["collect", "--dir", store, "--listen", "127.0.0.1:0", "--roles", join(root, "roles")], { env: { HOME: root, PATH: process.env.PATH }, stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => server.kill());
const address = await new Promise((resolve, reject) => {
  server.on("exit", (status) => reject(new Error("gate collect ended with " + status)));
  server.stdout.on("data", (text) => resolve(/127\.0\.0\.1:\d+/.exec(text)[0]));
});
const base = "http://" + address;
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });

// open opens the page in a context of its own as a role, and holds that it asks nobody else
// and that nothing goes wrong in it.
async function open(role, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("dialog", (d) => { throw new Error("a text ran: " + d.message()); });
  page.on("pageerror", (e) => { throw e; });
  page.on("request", (r) => assert.ok(r.url().startsWith(base + "/"), "asks for " + r.url()));
  await page.goto(base + "/");
  await page.waitForSelector("form[data-sign-in]");
  assert.equal(page.url(), base + "/ui/overview");
  await page.fill("input[name=key]", "wrong");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("input[name=key]")?.value === ""); // a new form
  await page.fill("input[name=key]", tokenOf(role));
  await page.keyboard.press("Enter");
  await page.waitForSelector("main .lead");
  // Chromium tells of refusals, and of those before late; view looks for them itself.
  page.on("console", (m) => { if (m.type() === "error" && !/\b40[13]\b/.test(m.text())) throw new Error("console: " + m.text()); });
  return page;
}
async function view(page, path) {
  await page.goto(base + path);
  await page.waitForSelector("main h1");
  assert.equal(await page.locator(".refusal").count(), 0, path + " is refused");
}

try {
  step("every view, light, dark and narrow, with axe-core");
  const modes = {
    light: { colorScheme: "light", viewport: { width: 1200, height: 900 } }, dark: { colorScheme: "dark", viewport: { width: 1200, height: 900 } },
    narrow: { colorScheme: "light", viewport: { width: 360, height: 740 } }, "narrow-dark": { colorScheme: "dark", viewport: { width: 360, height: 740 } },
  };
  for (const [mode, options] of Object.entries(modes)) {
    const page = await open("administrator", options);
    const views = {
      overview: "/ui/overview", findings: "/ui/findings", machines: "/ui/machines", policies: "/ui/policies", policy: "/ui/policies/gate.git.push", asked: "/ui/asked", trial: "/ui/trial", figures: "/ui/figures", looks: "/ui/looks",
    };
    await view(page, "/ui/machines?finding=gap");
    views.machine = await page.getAttribute("main tbody a", "href");
    const odd = await page.evaluate(async (token) => (await (await fetch("/ui/machines.json?text=script", { headers: { Authorization: "Bearer " + token } })).json()).machines[0].machine, tokenOf("administrator"));
    views.hostile = "/ui/machines/" + encodeURIComponent(odd);
    views["odd-policy"] = "/ui/policies/" + encodeURIComponent(odd);
    for (const [name, path] of Object.entries(views)) {
      await view(page, path);
      if (shots) await page.screenshot({ path: join(shots, `${mode}-board-${name}.png`) });
      await page.$$eval("main details", (all) => all.forEach((d) => { d.open = true; }));
      assert.equal(await page.$$eval("main script, main img, main iframe", (all) => all.length), 0, name + " has an element of a text");
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${name} is wider than ${mode} by ${over} px`);
      await page.evaluate(axe + ";0");
      const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
      assert.deepEqual(found.violations.map((v) => `${v.impact} ${v.id}: ${v.nodes[0].html}`), [], `${name}, ${mode}`);
    }
    await page.context().close();
  }

  step("roles");
  for (const role of roles) {
    const page = await open(role, {});
    assert.match(await page.textContent("#person"), new RegExp(role));
    assert.equal(await page.locator("#looks").isVisible(), role === "administrator");
    await page.goto(base + "/ui/looks");
    await page.waitForSelector("main h1");
    assert.equal(await page.locator(".refusal").count(), role === "administrator" ? 0 : 1);
    await view(page, "/ui/trial");
    assert.equal((await page.textContent("main")).includes("ssh web-3 uptime"), role !== "reader");
    await page.context().close();
  }

  step("a wrong token that is refused late");
  {
    const page = await (await browser.newContext()).newPage();
    let refuse;
    const held = new Promise((resolve) => { refuse = resolve; });
    await page.route("**/ui/*.html", async (route) => {
      if (route.request().headers().authorization === "Bearer wrong") await held;
      await route.continue();
    });
    await page.goto(base + "/");
    await page.fill("input[name=key]", "wrong");
    await page.keyboard.press("Enter");
    await page.waitForSelector("main[aria-busy]");
    await page.fill("input[name=key]", tokenOf("reader"));
    await page.keyboard.press("Enter");
    await page.waitForSelector("main .lead");
    const late = page.waitForResponse((r) => r.status() === 401);
    refuse();
    await (await late).finished();
    await view(page, "/ui/overview");
    await page.context().close();
  }

  step("filters, pages, JSON and the way back, by keyboard");
  const page = await open("reader", { viewport: { width: 1200, height: 900 } });
  await view(page, "/ui/machines");
  const first = await page.textContent("main tbody th");
  await page.click("main a.button:last-of-type >> text=Next page");
  await page.waitForFunction((was) => location.search.startsWith("?after=") && document.querySelector("main tbody th").textContent !== was, first);
  await page.goBack();
  await page.waitForFunction((was) => document.querySelector("main tbody th").textContent === was, first);
  await page.fill("input[name=text]", "laptop-0011");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("main tbody tr").length === 1);
  await page.focus("main tbody a");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("main h1").textContent === "laptop-0011.example.com");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.click("#json");
  await page.waitForSelector("main pre.code");
  assert.equal(JSON.parse(await page.textContent("main pre.code")).machine.host, "laptop-0011.example.com");

  step("signing out");
  await view(page, "/ui/overview");
  page.removeAllListeners("console"); // Chromium tells of the status
  await page.click("#close");
  await page.waitForSelector("form[data-sign-in]");
  assert.equal(await page.evaluate(() => sessionStorage.length + document.cookie.length), 0);
  await page.context().close();
  step("all of it holds");
} finally {
  server.removeAllListeners("exit");
  await browser.close();
  server.kill();
  rmSync(root, { recursive: true, force: true });
}
