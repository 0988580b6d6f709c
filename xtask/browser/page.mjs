// Opens the page in a real Chromium: game masters, players, guests and the owner, with scripts and without, on narrow and
// wide screens. Starts its servers itself. The last line counts what held.
//
// node page.mjs SKALD CHROMIUM [PART…]

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

import { hostileProcesses } from "./hostile_texts.mjs";
import { Kit } from "./kit.mjs";
import { Server } from "./server.mjs";

const [, , skald, executablePath, ...wanted] = process.argv;
// How many parts run at the same time. Parts that measure times run alone, before the others.
const AT_ONCE = 3;
const ALONE = ["latency"];
// The longest begin first.
const FIRST = ["every_page", "hostile"];
const PART_MS = 240_000;

const folder = join(dirname(fileURLToPath(import.meta.url)), "checks");
const all = readdirSync(folder).filter((file) => file.endsWith(".mjs")).map((file) => file.slice(0, -4)).sort();
const parts = wanted.length > 0 ? wanted : all;

const [server, owned, browser] = await Promise.all([
  Server.start(skald, { processes: hostileProcesses }),
  Server.start(skald, { requiresToken: false }),
  chromium.launch({ executablePath, args: ["--no-sandbox"] }),
]);
const outcomes = [];

async function runPart(name) {
  const began = Date.now();
  const kit = new Kit({ name, browser, server, owned });
  let timer;
  try {
    const { checkPart } = await import(`./checks/${name}.mjs`);
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`not done after ${PART_MS} ms`)), PART_MS); });
    await Promise.race([checkPart(kit), late]);
  } catch (error) {
    kit.outcome.failed.push(`${name}: ${error?.stack ?? error}`);
  }
  clearTimeout(timer);
  await kit.close().catch((error) => kit.outcome.failed.push(`${name}: ${error}`));
  const { passed, failed } = kit.outcome;
  for (const line of failed) console.log(line);
  console.log(`${name}: ${passed} passed, ${failed.length} failed, ${((Date.now() - began) / 1000).toFixed(1)} s`);
  outcomes.push(kit.outcome);
}

for (const name of parts.filter((part) => ALONE.includes(part))) await runPart(name);
const rest = parts.filter((part) => !ALONE.includes(part));
const waiting = [...rest.filter((part) => FIRST.includes(part)), ...rest.filter((part) => !FIRST.includes(part))];
await Promise.all(Array.from({ length: AT_ONCE }, async () => {
  while (waiting.length > 0) await runPart(waiting.shift());
}));

await browser.close();
await Promise.all([server.stop(), owned.stop()]);
const count = (list) => outcomes.reduce((sum, outcome) => sum + list(outcome), 0);
const failures = count(({ failed }) => failed.length);
console.log(`${count(({ passed }) => passed)} passed, ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
