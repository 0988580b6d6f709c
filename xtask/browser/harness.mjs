// What all checks share: the count of passed and failed checks, browsers that report every error, and axe.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WAIT_MS = 15_000;

export const sizes = { phone: { width: 360, height: 740 }, tablet: { width: 768, height: 1024 }, wide: { width: 1280, height: 800 } };

// Counts the checks of one file.
export class Outcome {
  constructor(name) {
    this.name = name;
    this.passed = 0;
    this.failed = [];
  }

  check(what, holds, found = holds) {
    if (holds) this.passed += 1;
    else this.failed.push(`${this.name}: ${what}: ${JSON.stringify(found)?.slice(0, 1500)}`);
    return Boolean(holds);
  }

  same(what, found, wanted) {
    return this.check(what, JSON.stringify(found) === JSON.stringify(wanted), { found, wanted });
  }

  // Waits for a promise. The check fails if it is rejected, such as after a timeout.
  async waits(what, wait) {
    try {
      await wait();
      this.passed += 1;
      return true;
    } catch (error) {
      this.failed.push(`${this.name}: ${what}: ${String(error).split("\n").slice(0, 3).join(" ")}`);
      return false;
    }
  }
}

// A browser of one person. These are failures: whatever the content security policy blocks, an error of a script, a dialog,
// a request to another server, and a status of an address that the check does not expect.
export class Visitor {
  static async open({ browser, outcome, base, name, options = {} }) {
    const visitor = new Visitor();
    Object.assign(visitor, { outcome, base, name, expected: [], allowed: [], isCut: false });
    visitor.context = await browser.newContext({ viewport: sizes.wide, ...options });
    visitor.context.setDefaultTimeout(WAIT_MS);
    await visitor.watch();
    visitor.page = await visitor.context.newPage();
    return visitor;
  }

  fail(text) {
    this.outcome.failed.push(`${this.outcome.name}: ${this.name}: ${text}`);
  }

  async watch() {
    const { context } = this;
    await context.exposeBinding("reportViolation", ({ page }, text) => this.fail(`policy: ${text} on ${page.url()}`));
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        window.reportViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile} ${event.sample}`);
      });
    });
    context.on("weberror", (error) => this.fail(`script: ${error.error()?.stack ?? error.error()} on ${error.page()?.url()}`));
    context.on("dialog", (dialog) => {
      // A page with unsent text may ask before it is left.
      if (dialog.type() !== "beforeunload") this.fail(`dialog: ${dialog.message()}`);
      dialog.accept().catch(() => {});
    });
    context.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${this.base}/`) && !/^(data|blob|about):/.test(url)) this.fail(`request to elsewhere: ${url}`);
    });
    context.on("response", (response) => {
      if (response.status() >= 400 && !this.isExpected(response.url(), response.status())) {
        this.fail(`status ${response.status()} of ${response.request().method()} ${response.url()}`);
      }
    });
    context.on("console", (message) => {
      if (message.type() !== "error") return;
      const { url } = message.location();
      // Chromium also reports each refused address here; the statuses are judged above.
      const isStatus = /^Failed to load resource: the server responded with a status of/.test(message.text());
      // While the connection is cut, requests fail, and htmx says so.
      const isKnown = url.startsWith(this.base) && (isStatus || this.isCut);
      if (!isKnown) this.fail(`console: ${message.text()} at ${url}`);
    });
  }

  // Expects that the address answers with this status at least once before the browser is closed.
  expect(status, path) {
    this.expected.push({ status, path, isMet: false });
  }

  // Permits this status for addresses that begin so.
  allow(status, beginning) {
    this.allowed.push({ status, beginning });
  }

  isExpected(url, status) {
    const { pathname, search } = new URL(url);
    const found = this.expected.filter((one) => one.status === status && (one.path === pathname || one.path === pathname + search));
    for (const one of found) one.isMet = true;
    const isAllowed = this.allowed.some((one) => one.status === status && pathname.startsWith(one.beginning));
    return found.length > 0 || isAllowed;
  }

  goto(path) {
    return this.page.goto(this.base + path, { waitUntil: "load" });
  }

  // Signs in with the form. Without a session the form is the answer at every address, with status 401.
  async signIn(token, path = "/") {
    this.expect(401, path);
    await this.goto(path);
    await this.page.getByLabel("Token").fill(token);
    await Promise.all([
      this.page.waitForResponse((response) => response.url() === this.base + path && response.status() === 200),
      this.page.getByRole("button", { name: "Sign in" }).click(),
    ]);
    await this.page.waitForLoadState("load");
  }

  async violations(page = this.page) {
    await page.evaluate(axeSource);
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    return found.violations.map((rule) => `${rule.id}: ${rule.nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.html.slice(0, 160)} ${node.failureSummary.replace(/\s+/g, " ")}`).join(" | ")}`);
  }

  async checkAxe(what, page = this.page) {
    this.outcome.same(`axe: ${what}`, await this.violations(page), []);
  }

  async close() {
    for (const { status, path, isMet } of this.expected) {
      if (!isMet) this.fail(`${path} never answered ${status}`);
    }
    await this.context.close();
  }
}

// The text that a person sees, as one line.
export async function textOf(locator) {
  return (await locator.innerText()).replace(/\s+/g, " ").trim();
}

// Waits until a part of the page has a text.
export function waitForText(locator, text) {
  return locator.filter({ hasText: text }).first().waitFor({ state: "visible" });
}

// Waits until something has a value, asking again and again.
export async function waitForValue(ask, wanted, waitMs = 10_000) {
  const end = Date.now() + waitMs;
  for (let found = await ask(); found !== wanted; found = await ask()) {
    if (Date.now() > end) throw new Error(`it is ${found}, not ${wanted}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

// Opens a details element by the words of its summary.
export async function unfold(root, words) {
  const part = root.locator("details").filter({ has: root.page().locator("summary", { hasText: words }) }).last();
  if ((await part.getAttribute("open")) === null) await part.locator("summary").first().click();
  return part;
}

export const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
