// Takes pictures of the page in a real Chromium.
//
// node screenshots.mjs SKALD CHROMIUM FOLDER        the pictures of the guides
// node screenshots.mjs SKALD CHROMIUM FOLDER all    every page at three widths, light and dark, with names that are hard to
//                                                   set, and on paper

import { join } from "node:path";
import { chromium } from "playwright-core";

import { MirrorPair } from "./mirror.mjs";
import { pagesOf, pagesOfNobody, pagesOfOwners } from "./pages.mjs";
import { createNamedTable, createRichTable, hardNames } from "./rich_world.mjs";
import { Server } from "./server.mjs";
import { LONG_NAME } from "./world.mjs";

const [, , skald, executablePath, folder, all] = process.argv;
const WIDTHS = [360, 768, 1280];
// A4 without its margins.
const PAPER_WIDTH = 718;
const HEIGHT_MAX = 1_600;
// As tall as the page is.
const WHOLE = undefined;

let taken = 0;
const failed = [];
// The pages of all tables have an inbox of Kanka as well.
const pair = all && await MirrorPair.start(skald, { requiresToken: false });
const server = pair ? pair.here : await Server.start(skald, { requiresToken: false });
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

async function signIn(table) {
  const page = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
  const options = ["--kind", "human", "--gate-role", "human"];
  const { token } = await server.createToken("Ada", ["--role", "gm", "--page", "0", ...options]);
  await page.goto(`${server.base}/sign-in`);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: table.name, exact: true }).first().waitFor();
  return page;
}

// Opens a page, and waits for what a script draws on it.
async function open(page, path, width, colorScheme, height = 800) {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.goto(server.base + path, { waitUntil: "load" });
  if (/\/c\/[^/]+$/.test(path) && page.url() !== `${server.base}/c/camp_nowhere`) await page.getByText(/\d+ ?%/).first().waitFor({ state: "attached" });
  if (/\/graph$/.test(path)) await page.getByRole("group", { name: "Entries and what connects them" }).waitFor();
  if (/\/sky\/./.test(path)) await page.getByRole("button", { name: "Play" }).waitFor();
  // What is new is marked for two seconds.
  await page.locator(".fresh").first().waitFor({ state: "detached" });
  await page.evaluate(() => document.fonts.ready);
}

async function take(page, name, options) {
  try {
    await page.screenshot({ path: join(folder, `${name}.png`), ...options });
    taken += 1;
  } catch (error) {
    failed.push(`${name}: ${error}`);
  }
}

// As tall as the page is, within reason.
async function fit(page, width) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height: Math.min(height, HEIGHT_MAX) });
}

async function takeGuides() {
  const table = await createRichTable(server, "The Drowned Bells");
  const page = await signIn(table);
  const { path, skyPath, entities, quest } = table;
  const shown = [
    ["table-dark", path, 1280, "dark", WHOLE],
    ["table-phone", path, 360, "light", 760],
    ["lore", `${path}/lore/${entities.dunmere}`, 1280, "light", WHOLE],
    ["dice", "/dice?e=2d6%2B3&e2=1d12", 1280, "light", WHOLE],
    // Down to what is to be done; the history goes on below.
    ["run", `${path}/runs/${quest}`, 1280, "light", 1_310],
    ["sky", `${skyPath}?days=47&body=salt`, 1280, "dark", WHOLE],
  ];
  for (const [name, address, width, colorScheme, height] of shown) {
    await open(page, address, width, colorScheme, height ?? 800);
    if (height === WHOLE) await fit(page, width);
    await page.evaluate(() => scrollTo(0, 0));
    await take(page, name);
  }
}

async function takeAll() {
  const table = await createRichTable(server, "The Drowned Bells");
  const page = await signIn(table);
  const nobody = await (await browser.newContext()).newPage();
  const pages = pagesOf(table);
  const inbox = await createInbox();
  const ofMembers = { ...pages.everybody, ...pages.players, ...pages.gameMasters, inbox, nowhere: "/c/camp_nowhere" };
  // On this server whoever has not signed in is the owner.
  await Promise.all([takeEach(page, ofMembers), takeEach(nobody, { ...pagesOfOwners, ...pagesOfNobody })]);
  for (const [kind, name] of Object.entries(hardNames)) {
    const named = await createNamedTable(server, name);
    const { everybody, players, gameMasters } = pagesOf(named);
    for (const [what, path] of Object.entries({ ...everybody, ...players, ...gameMasters })) {
      await open(page, path, 360, "light");
      await take(page, `${what}-${kind}`, { fullPage: true });
    }
  }
}

async function createInbox() {
  await pair.createConflicts(["The Bell Chamber", LONG_NAME], {
    ours: (at) => ({ entry: `The water does not move.\n\nThe bronze is ${at + 2} hands thick.` }),
    theirs: () => ({ entry: "The water rises at night." }),
  });
  await server.call("kanka_mirror", { method: "pull", campaign_id: pair.campaign });
  return `/c/${pair.campaign}/kanka`;
}

async function takeEach(page, pages) {
  for (const [name, path] of Object.entries(pages)) {
    for (const width of WIDTHS) {
      for (const colorScheme of ["light", "dark"]) {
        await open(page, path, width, colorScheme);
        await take(page, `${name}-${width}-${colorScheme}`, { fullPage: true });
      }
    }
    await page.emulateMedia({ media: "print", colorScheme: "light" });
    await page.setViewportSize({ width: PAPER_WIDTH, height: 1_000 });
    await take(page, `${name}-paper`, { fullPage: true });
    await page.emulateMedia({ media: "screen" });
  }
}

try {
  await (all ? takeAll() : takeGuides());
} catch (error) {
  failed.push(String(error?.stack ?? error));
} finally {
  await browser.close();
  await (pair || server).stop();
}
for (const line of failed) console.log(line);
console.log(`${taken} passed, ${failed.length} failed`);
process.exit(failed.length === 0 ? 0 : 1);
