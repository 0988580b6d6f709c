// Every page as game master, player and guest, at three widths, light and dark: nothing that axe finds, no scrolling to the
// side, one heading, and nothing that moves for whoever wants it calm.

import { sideways, sizes } from "../harness.mjs";
import { pagesOf } from "../pages.mjs";
import { addLore, addQuest, addSky, emitter, holdChange } from "../world.mjs";

export async function checkPart(kit) {
  const table = await addQuest(await addSky(await addLore(await kit.table("Everything"))), { quest: "Silence the bell" });
  await holdChange(table);
  // A long name beside marks, of which only some see the tracker.
  await table.call("tracker", { campaign_id: table.campaign, method: "set", trackers: [{ name: "The abbess's patience", value: 2, min: 0, max: 4, visible_to: ["gm"] }] });
  const emit = emitter(table, table.quest);
  await emit("accept_quest", { payload: { terms: "Half now" } });
  await emit("submit_clue", { payload: { summary: "It rings beneath the hull", source: "witness" }, artifacts: [{ path: "clue-1.md", text: "The fisher heard it ring beneath the hull, three nights in a row." }] });
  const guest = await kit.server.personToken("Gus", "guest", { campaign: table.campaign });
  table.tokens.guest = guest.token;
  const pages = pagesOf(table);
  await Promise.all([
    walk(kit, table, "gm", { ...pages.everybody, ...pages.players, ...pages.gameMasters }),
    walk(kit, table, "player", { ...pages.everybody, ...pages.players }).then(() => walk(kit, table, "guest", pages.everybody)),
  ]);
}

async function walk(kit, table, role, pages) {
  const visitor = await kit.signIn(table, role);
  const { page } = visitor;
  for (const [name, path] of Object.entries({ ...pages, nowhere: "/c/camp_nowhere" })) {
    if (name === "nowhere") visitor.expect(404, path);
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await visitor.goto(path);
    await checkFrame(kit, page, `${role} ${name}`);
    for (const size of Object.values(sizes)) {
      await page.setViewportSize(size);
      kit.same(`no word of the bar is broken: ${role} ${name} ${size.width}`, await page.evaluate(findBrokenWords), []);
      kit.same(`the bar shows the link of this page: ${role} ${name} ${size.width}`, await page.evaluate(findHiddenLinks), []);
      kit.same(`marks have their space: ${role} ${name} ${size.width}`, await page.evaluate(findSqueezedMarks), []);
      const wide = await sideways(page);
      kit.check(`no scrolling to the side: ${role} ${name} ${size.width}`, wide <= 0, wide);
      if (size === sizes.tablet) continue;
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await visitor.checkAxe(`${role} ${name} ${size.width} ${colorScheme}`);
      }
    }
    await page.setViewportSize(sizes.wide);
  }
  await visitor.close();
  kit.visitors.splice(kit.visitors.indexOf(visitor), 1);
}

// Runs in the page: links of the bar that do not stand on one line.
function findBrokenWords() {
  const lines = (link) => {
    const range = document.createRange();
    range.selectNodeContents(link);
    return new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top))).size;
  };
  const links = document.querySelectorAll("header nav a");
  return [...links].filter((link) => !/\s/.test(link.textContent.trim()) && lines(link) > 1).map((link) => link.textContent);
}

// Runs in the page: the links of the bar to where one is, if one has to scroll to see them. A script of the page is told of
// another size with the next frame.
async function findHiddenLinks() {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const isHidden = (link) => link.getBoundingClientRect().right > link.parentElement.getBoundingClientRect().right + 1;
  return [...document.querySelectorAll("header nav [aria-current]")].filter(isHidden).map((link) => link.textContent);
}

// Runs in the page: trackers whose marks stand on several lines or over what follows them.
function findSqueezedMarks() {
  const isSqueezed = (gauge) => {
    const marks = [...gauge.querySelectorAll(".mark")].map((mark) => mark.getBoundingClientRect());
    const isBroken = marks.some(({ top }) => Math.abs(top - marks[0].top) > 2);
    return gauge.checkVisibility() && (isBroken || gauge.scrollWidth > gauge.clientWidth + 1);
  };
  return [...document.querySelectorAll(".gauge")].filter(isSqueezed).map((gauge) => gauge.parentElement.textContent);
}

async function checkFrame(kit, page, what) {
  const frame = await page.evaluate(() => ({
    headings: document.querySelectorAll("h1").length,
    mains: document.querySelectorAll("main").length,
    title: /· Skald$/.test(document.title),
    language: document.documentElement.lang,
    moving: document.getAnimations().filter((animation) => animation.playState === "running").length,
  }));
  kit.same(`one heading, one main part, a title, calm: ${what}`, frame, { headings: 1, mains: 1, title: true, language: "en", moving: 0 });
}
