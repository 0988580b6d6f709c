// Opens the page in a real Chromium: a game master and a player at one table, narrow and wide, light and dark, with
// scripts and without. Starts the server itself. The last line counts what held.
//
// node page.mjs SKALD CHROMIUM [FOLDER-FOR-SCREENSHOTS]

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [, , skald, executablePath, pictures] = process.argv;
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const store = `sqlite:${join(mkdtempSync(join(tmpdir(), "skald-page-")), "world.db")}`;
const MARKER = "the bell is their mother";
const HOSTILE = `<img src=x onerror="window.broken=1"><script>window.broken=1</script> ' hx-get='/sign-out' hx-trigger='load`;

let passed = 0;
const failed = [];
function check(what, holds, found) {
  if (holds) passed += 1;
  else failed.push(`${what}: ${JSON.stringify(found)}`);
}

// The server, with two people who have tokens.
const run = (...args) => execFileSync(skald, [...args, "--store", store], { encoding: "utf8" });
const token = (name, role) => JSON.parse(run("token", "create", name, "--role", role, "--json", "--reads", "0", "--calls", "0", "--lists", "0"));
const ofPlayer = token("Ben", "player");
const tokens = { gm: token("Ada", "gm").token, player: ofPlayer.token };
const server = spawn(skald, ["serve", "--store", store, "--http-addr", "127.0.0.1:0", "--grpc-addr", "off", "--require-token"]);
const base = await new Promise((resolve, reject) => {
  let text = "";
  server.stdout.on("data", (data) => {
    text += data;
    const found = text.match(/page\s+(http:\/\/\S+?)\/\s/);
    if (found) resolve(found[1]);
  });
  server.on("exit", () => reject(new Error(`the server ended: ${text}`)));
});

async function call(operation, input) {
  const response = await fetch(`${base}/api/v1/${operation}`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.gm}`, "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${operation}: ${JSON.stringify(answer)}`);
  return answer;
}

const campaign = (await call("campaign_create", { name: "The Drowned Bells", gm_mode: "AI", theme_prompt: "A town that rings under the sea. Something answers." })).id;
const people = {};
for (const name of ["Ana", "Ben", "Cleo"]) {
  people[name] = (await call("participant_create", { campaign_id: campaign, display_name: name, role: "PLAYER" })).id;
}
run("token", "bind", ofPlayer.id, "--participant", people.Ben);
const actor = (name, player) => call("actor_create", { campaign_id: campaign, name, kind: "PC", controller: people[player], template: "daggerheart" });
const mira = (await actor("Mira", "Ana")).id;
const tam = (await actor("Tam", "Ben")).id;
const isolde = (await actor("Isolde of the Long Tide, keeper of the seventh and last bell", "Cleo")).id;
await call("actor_create", { campaign_id: campaign, name: "鐘の守り人", kind: "NPC", controller: "GM", trackers: { HP: "5/5" } });
await call("actor_create", { campaign_id: campaign, name: "حارس الجرس", kind: "NPC", controller: "GM", trackers: { HP: "24/40" } });
await call("tracker", { campaign_id: campaign, method: "set", trackers: [{ name: "Flood clock", value: 3, min: 0, max: 8, meaning: "The square floods." }] });
const session = (await call("session_start", { campaign_id: campaign, name: "The first bell" })).id;
await call("session_note", { campaign_id: campaign, scene: "The drowned square", spotlight: "Mira", text: "Water to the knees; the bell rings once, from below." });
await call("duality_action_roll", { session_id: session, actor_id: mira, modifier: 2, difficulty: 14, reason: "Leaps to the statue" });
await call("roll", { session_id: session, actor_id: tam, expression: "2d8+3", reason: "Strikes at the drowned guard" });
await call("roll", { session_id: session, actor_id: isolde, expression: "4d6kh3", reason: "Listens for the second bell" });
if (!pictures) await call("session_note", { campaign_id: campaign, text: HOSTILE });

// Lore, a timeline, a held change, a universe and a run.
const entry = "Bells ring under the **drowned square** when the tide turns. [[Abbess Ruane]] counts them.\n\n- the first for the drowned\n- the second for those who listen";
const created = await call("create_entities", {
  campaign_id: campaign,
  entities: [
    { entity_type: "character", name: "Abbess Ruane", type: "NPC", entry: "She keeps the list of names, and has not slept since the flood.", tags: ["abbey"] },
    { entity_type: "location", name: "Dunmere", type: "Town", entry, tags: ["coast", "drowned"] },
    { entity_type: "organization", name: "The Listeners", type: "Faction", entry: "They answer the bell. [[Abbess Ruane]] led them once.", tags: ["abbey"] },
    { entity_type: "character", name: "The Mother below", entry: MARKER, is_private: true },
    { entity_type: "item", name: "A pearl key", entry: "It is wet, however long it lies by the fire.", is_private: true },
  ],
});
const [ruane, dunmere, listeners, , key] = created.results.map((result) => result.entity_id);
await call("create_posts", { campaign_id: campaign, posts: [{ entity_id: dunmere, name: "Rumours", entry: "The ferryman was seen after his burial." }] });
await call("relationships", { campaign_id: campaign, method: "add", entity_id: ruane, target_id: listeners, type: "leads", tone: "fearful" });
await call("timeline", { campaign_id: campaign, method: "add", date: "3rd of Rain, 1204", sort: "1204-03-03", description: "The sea came over the square.", entity_ids: [dunmere], is_player_known: true });
await call("canon", { campaign_id: campaign, method: "mark", entity_id: ruane, confidence: "AUTHORITATIVE" });
await call("update_entities", { campaign_id: campaign, updates: [{ entity_id: ruane, entry: "She sleeps very well." }] });
await call("universe", { method: "create", universeId: "tides", name: "The tides", campaignId: campaign });
const body = (name, color, more) => ({ name, mass: 1, radius: 1, color, parentId: null, orbitalDistance: 0, orbitalSpeed: 0, orbitalPhase: 0, ...more });
await call("send_universe_command", { universeId: "tides", command: { type: "addStar", id: "sun", payload: body("The lamp", "#F5C542", { radius: 6 }) } });
for (const [id, name, distance] of [["home", "Home", 40], ["bell", "The bell", 70], ["tide", "Tide", 110]]) {
  await call("send_universe_command", { universeId: "tides", command: { type: "addStar", id, payload: body(name, "#3E7CB1", { parentId: "sun", orbitalDistance: distance, orbitalSpeed: 0.01 * (120 / distance), radius: 2 }) } });
}
const quest = (await call("state_gate.create_run", { process_id: "quest", campaign_id: campaign })).run_id;

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

// A browser of somebody, who signs in as people do. Everything that the policy stops is a failure.
async function signIn(role, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error") failed.push(`${role}: ${message.text()}`);
  });
  page.on("pageerror", (error) => failed.push(`${role}: ${error}`));
  await page.goto(`${base}/c/${campaign}`);
  await page.fill("#token", tokens[role]);
  await Promise.all([page.waitForURL(`${base}/c/${campaign}`), page.click("main button")]);
  return page;
}

async function violations(page) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((rule) => `${rule.id}: ${rule.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`);
}

// The pictures of the guides, and nothing else.
if (pictures) {
  const page = await signIn("gm");
  const shown = [
    ["table-dark", `/c/${campaign}`, 1280, "dark"],
    ["table-phone", `/c/${campaign}`, 360, "light"],
    ["lore", `/c/${campaign}/lore/${dunmere}`, 1280, "light"],
    ["dice", "/dice?e=2d6%2B3&e2=1d12", 1280, "light"],
    ["run", `/c/${campaign}/runs/${quest}`, 1280, "light"],
    ["sky", `/c/${campaign}/sky/tides`, 1280, "dark"],
  ];
  for (const [name, path, width, colorScheme] of shown) {
    await page.setViewportSize({ width, height: width === 360 ? 740 : 800 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.goto(base + path, { waitUntil: "load" });
    if (name.startsWith("table")) await page.waitForSelector("#odds .odds-summary-line");
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  }
  await browser.close();
  server.kill("SIGTERM");
  console.log(`${shown.length} passed, 0 failed`);
  process.exit(0);
}

try {
  // A refused sign-in says so; status 401 is no error of the page's own.
  {
    const page = await (await browser.newContext()).newPage();
    const response = await page.goto(`${base}/`);
    check("without a token there is the sign-in", response.status() === 401 && (await page.locator("#token").count()) === 1, response.status());
    await page.fill("#token", "skald_no_token");
    await page.click("main button");
    check("a wrong token is explained", await page.locator(".fault").isVisible(), await page.content());
    await page.context().close();
  }

  const gm = await signIn("gm", { ignoreHTTPSErrors: true });
  failed.length = 0;
  const player = await signIn("player");
  // The sign-in form is an answer with status 401, which Chromium reports as an error.
  failed.splice(0, failed.length, ...failed.filter((line) => !line.includes("status of 401")));

  await gm.waitForSelector("#odds .odds-summary-line");
  check("hostile text is text", (await gm.evaluate(() => window.broken)) === undefined && (await gm.locator(".note-text").first().textContent()).includes("<script>"), await gm.locator(".note-text").first().textContent());

  // Each event is on the other screen soon, and nothing typed is lost.
  await player.fill("#note", "what I was about to write");
  await player.focus("#note");
  await gm.fill("#expression", "duality(+3, dc 13)");
  await gm.fill("#reason", "Rings the bell");
  await player.evaluate(() => {
    new MutationObserver(() => {
      if (document.getElementById("log").textContent.includes("Rings the bell")) window.seen ??= Date.now();
    }).observe(document.getElementById("log"), { childList: true, subtree: true, characterData: true });
  });
  await gm.click(".roll-button");
  await player.waitForFunction(() => window.seen);
  const stored = (await call("events_list", { campaign_id: campaign, limit: 1, types: ["roll."] })).events[0];
  check("the roll is on the player's screen", stored.event.reason === "Rings the bell", stored);
  await gm.waitForFunction(() => document.getElementById("log").textContent.includes("Rings the bell"));
  check("what was typed stays", (await player.inputValue("#note")) === "what I was about to write", await player.inputValue("#note"));
  check("the focus stays", (await player.evaluate(() => document.activeElement.id)) === "note", await player.evaluate(() => document.activeElement.id));
  check("a box is empty once it was sent", (await gm.inputValue("#reason")) === "", await gm.inputValue("#reason"));
  check("a roll is announced", (await player.textContent("#announce")).includes("Rings the bell"), await player.textContent("#announce"));
  check("the odds follow the typing", (await gm.textContent("#odds")).includes("%"), await gm.textContent("#odds"));

  // Trackers with buttons, and the focus on them.
  const hope = (page) => page.locator(`#p-${mira} .gauge-hope .value`);
  const before = parseInt(await hope(player).textContent(), 10);
  await player.locator(`#p-${mira} form:has(input[value="Hope"]) button[value="1"]`).click();
  await gm.waitForFunction(([id, value]) => parseInt(document.querySelector(`#p-${id} .gauge-hope .value`).textContent, 10) === value, [mira, before + 1]);
  check("a tracker moved on both screens", parseInt(await hope(gm).textContent(), 10) === before + 1, await hope(gm).textContent());

  // Latency, measured in the player's browser: from the answer of the command to the screen.
  const times = [];
  for (let number = 0; number < 5; number += 1) {
    const text = `latency ${number}`;
    const seen = player.waitForFunction((wanted) => document.getElementById("log").textContent.includes(wanted), text);
    await call("session_note", { campaign_id: campaign, text });
    const answered = performance.now();
    await seen;
    times.push(Math.round(performance.now() - answered));
  }
  check("an event is on the screen within 200 ms", Math.max(...times) < 200, times);

  // A game master has what a player has not, and leaves no gap.
  check("the game master may end the session", (await gm.locator("text=End the session").count()) === 1, 0);
  check("the player sees nothing of that", (await player.locator("text=End the session").count()) === 0, 0);

  // The connection is lost and comes back without a gap.
  await player.context().setOffline(true);
  await player.evaluate(() => window.dispatchEvent(new Event("offline")));
  await call("session_note", { campaign_id: campaign, text: "written while the player was away" });
  check("a lost connection says so", await player.locator("#offline").isVisible(), await player.textContent("#offline"));
  await player.context().setOffline(false);
  await player.evaluate(() => { Object.defineProperty(document, "hidden", { configurable: true, get: () => true }); document.dispatchEvent(new Event("visibilitychange")); });
  await player.evaluate(() => { Object.defineProperty(document, "hidden", { configurable: true, get: () => false }); document.dispatchEvent(new Event("visibilitychange")); });
  await player.waitForFunction(() => document.getElementById("log").textContent.includes("while the player was away"));
  await player.waitForFunction(() => document.getElementById("offline").hidden);
  check("and catches up", true);

  // A refused form keeps what was typed, with the error beside it.
  failed.splice(0, failed.length, ...failed.filter((line) => !line.includes("ERR_INTERNET_DISCONNECTED")));
  await gm.fill("#expression", "2dd6");
  await gm.click(".roll-button");
  await gm.waitForSelector("#table-fault .fault");
  check("a refused roll is explained", (await gm.inputValue("#expression")) === "2dd6", await gm.inputValue("#expression"));
  failed.splice(0, failed.length, ...failed.filter((line) => !line.includes("status of 400")));

  // A handout: nothing is told for ten seconds; then it appears on the screen of the one who may know, as does what changes in it.
  await gm.clock.install();
  await gm.goto(`${base}/c/${campaign}/lore/${key}`);
  await player.goto(`${base}/c/${campaign}/lore`);
  const reveal = gm.locator("button", { hasText: "Reveal to Ben" });
  await reveal.click();
  check("a reveal can be undone", await gm.locator(".waiting").isVisible(), await gm.textContent("#who-knows"));
  await gm.clock.runFor(5000);
  await gm.click(".waiting button");
  await gm.clock.runFor(15000);
  check("an undone reveal reveals nothing", (await gm.textContent("#who-knows")).includes("Only game masters know it."), await gm.textContent("#who-knows"));
  await reveal.click();
  await gm.clock.runFor(8000);
  check("nobody is told before the time is over", !(await player.content()).includes("A pearl key"), 0);
  await gm.clock.runFor(3000);
  await player.waitForSelector(".handout:has-text('A pearl key')");
  check("a handout appears on the player's screen", true);
  await gm.waitForSelector("text=Known by Ben");
  await player.click(".handout a");
  await player.waitForSelector("#entry");
  await call("update_entities", { campaign_id: campaign, updates: [{ entity_id: key, entry: "It is dry now, and warm." }] });
  await player.waitForFunction(() => document.getElementById("entry").textContent.includes("It is dry now"));
  check("a change of an entry appears where it is read", true);
  await gm.locator("button", { hasText: "Hide from Ben" }).click();
  await player.waitForFunction(() => !document.body.textContent.includes("It is dry now"));
  check("what is hidden again leaves the player's screen", true);
  failed.splice(0, failed.length, ...failed.filter((line) => !line.includes("status of 404")));

  // Somebody else saves while one types.
  await gm.goto(`${base}/c/${campaign}/lore/${key}/edit`);
  await gm.fill("#entry", "What I was about to save.");
  await call("update_entities", { campaign_id: campaign, updates: [{ entity_id: key, entry: "Saved by somebody else." }] });
  await gm.waitForSelector("#changed-meanwhile:not([hidden])");
  check("an editor says that somebody else saved", (await gm.inputValue("#entry")) === "What I was about to save.", await gm.inputValue("#entry"));

  // The game master looks at the campaign as a player sees it.
  await gm.goto(`${base}/c/${campaign}/view-as`);
  check("axe: view as", (await violations(gm)).length === 0, await violations(gm));
  await gm.click("button:has-text('Ben')");
  await gm.waitForSelector(".view-as-banner:has-text('Ben')");
  check("a view as a player has no secret", !(await gm.content()).includes(MARKER) && (await gm.locator("text=End the session").count()) === 0, 0);
  check("axe: table as a player", (await violations(gm)).length === 0, await violations(gm));
  await gm.click("text=Back to your own view");
  await gm.waitForSelector(".view-as-banner", { state: "detached" });
  check("and leads back", (await gm.locator("text=End the session").count()) === 1, 0);

  // A sky while others change it.
  await player.goto(`${base}/c/${campaign}/sky/tides`);
  await call("send_universe_command", { universeId: "tides", command: { type: "addStar", id: "late", payload: body("The late one", "#B13E53", { parentId: "sun", orbitalDistance: 140, orbitalSpeed: 0.01, radius: 2 }) } });
  await player.waitForFunction(() => document.getElementById("sky").textContent.includes("The late one"));
  check("a new body appears in an open sky", true);

  // On paper: the text without its buttons.
  await gm.goto(`${base}/c/${campaign}/lore/${dunmere}`);
  await gm.emulateMedia({ media: "print" });
  check("paper has the text", await gm.locator("#entry h1").isVisible(), 0);
  check("paper has no buttons", !(await gm.locator(".bar").isVisible()) && !(await gm.locator("#who-knows").isVisible()), 0);
  check("a page prints", (await gm.pdf()).subarray(0, 5).toString() === "%PDF-", 0);
  await gm.emulateMedia({ media: "screen" });

  // Every page, narrow and wide, light and dark: nothing that axe finds, no horizontal scrolling.
  const paths = { home: "/", table: `/c/${campaign}`, session: `/c/${campaign}/sessions/1`, sessions: `/c/${campaign}/sessions`, dice: "/dice?e=2d6%2B3&e2=1d12", duality: "/dice?e=duality(%2B2%2C%20dc%2014)", browsers: "/browsers", lore: `/c/${campaign}/lore`, entity: `/c/${campaign}/lore/${dunmere}`, timeline: `/c/${campaign}/timeline`, graph: `/c/${campaign}/graph`, skies: `/c/${campaign}/sky`, sky: `/c/${campaign}/sky/tides`, nowhere: `/c/camp_nowhere` };
  const ofGameMasters = { canon: `/c/${campaign}/canon`, edit: `/c/${campaign}/lore/${dunmere}/edit`, history: `/c/${campaign}/lore/${dunmere}/history`, runs: `/c/${campaign}/runs`, run: `/c/${campaign}/runs/${quest}` };
  for (const page of [gm, player]) {
    const who = page === gm ? "gm" : "player";
    const shown = who === "gm" ? { ...paths, ...ofGameMasters } : paths;
    for (const [name, path] of Object.entries(shown)) {
      for (const [width, height] of [[360, 740], [1280, 800]]) {
        for (const colorScheme of ["light", "dark"]) {
          await page.setViewportSize({ width, height });
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          await page.goto(base + path, { waitUntil: "load" });
          if (name === "table") await page.waitForSelector("#odds .odds-summary-line");
          if (who === "player") check(`no secret: ${name}`, !(await page.content()).includes(MARKER), name);
          const found = await violations(page);
          check(`axe: ${who} ${name} ${width} ${colorScheme}`, found.length === 0, found);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          check(`no scrolling to the side: ${who} ${name} ${width}`, wide <= width, wide);
        }
      }
    }
  }
  failed.splice(0, failed.length, ...failed.filter((line) => !line.includes("status of 404")));

  // Tabs on a phone.
  await player.setViewportSize({ width: 360, height: 740 });
  await player.goto(`${base}/c/${campaign}`);
  check("one part at a time on a phone", !(await player.locator(".log").isVisible()) && (await player.locator("#roll-box").isVisible()), 0);
  await player.click('[data-show="log"]');
  check("the log is a tab", (await player.locator(".log").isVisible()) && !(await player.locator("#roll-box").isVisible()), 0);

  // The keyboard alone.
  await player.setViewportSize({ width: 1280, height: 800 });
  await player.goto(`${base}/c/${campaign}`);
  await player.keyboard.press("Tab");
  check("the first stop skips to the content", (await player.evaluate(() => document.activeElement.className)) === "skip", await player.evaluate(() => document.activeElement.outerHTML));
  await player.focus("#reason");
  await player.keyboard.type("By keyboard");
  await player.keyboard.press("Enter");
  await player.waitForFunction(() => document.getElementById("log").textContent.includes("By keyboard"));
  check("a roll by keyboard", true);

  // Colours by the button, without a reload, and kept.
  await player.click("#theme");
  check("dark by the button", (await player.getAttribute("html", "data-theme")) === "dark", await player.getAttribute("html", "data-theme"));
  await player.reload();
  check("and after a reload", (await player.getAttribute("html", "data-theme")) === "dark", await player.getAttribute("html", "data-theme"));

  // Without scripts: reading and forms.
  {
    const plain = await signIn("player", { javaScriptEnabled: false });
    failed.splice(0, failed.length, ...failed.filter((line) => !line.includes("status of 401")));
    await plain.fill("#reason", "Without scripts");
    await Promise.all([plain.waitForNavigation(), plain.click(".roll-button")]);
    check("a roll without scripts", (await plain.textContent("#log")).includes("Without scripts"), await plain.textContent("#log"));
    await plain.fill("#note", "A note without scripts");
    await Promise.all([plain.waitForNavigation(), plain.click("#note-box button")]);
    check("a note without scripts", (await plain.textContent("#log")).includes("A note without scripts"), await plain.textContent("#log"));
    await Promise.all([plain.waitForNavigation(), plain.locator(`#p-${mira} form:has(input[value="Stress"]) button[value="1"]`).click()]);
    check("a tracker without scripts", (await plain.textContent(`#p-${mira} .gauge-stress .value`)).startsWith("1"), await plain.textContent(`#p-${mira} .gauge-stress .value`));
    await plain.goto(`${base}/dice?e=4d6kh3`);
    check("odds without scripts", (await plain.textContent("#results")).includes("12.2"), await plain.textContent("#results"));
    await plain.context().close();
  }

  // Whoever is signed out is at the sign-in.
  await player.click("details.who summary");
  await Promise.all([player.waitForURL(`${base}/sign-in`), player.click("text=Sign out")]);
  const response = await player.goto(`${base}/c/${campaign}`);
  check("signed out", response.status() === 401, response.status());
  failed.splice(0, failed.length, ...failed.filter((line) => !line.includes("status of 401")));
  check("no marker of a secret", !(await player.content()).includes(MARKER), 0);
} catch (error) {
  failed.push(String(error?.stack ?? error));
} finally {
  await browser.close();
  server.kill("SIGTERM");
}
for (const line of failed) console.log(line);
console.log(`${passed} passed, ${failed.length} failed`);
process.exit(failed.length === 0 ? 0 : 1);
