// The table with two people at once: rolls, notes, trackers, the spotlight, sessions, the phone, colours.

import { sizes, textOf, unfold, waitForText, waitForValue } from "../harness.mjs";
import { LONG_NAME } from "../world.mjs";

const parts = (page) => ({
  log: page.getByRole("region", { name: "Log" }),
  now: page.getByRole("region", { name: "Now" }),
  expression: page.getByLabel("Roll", { exact: true }),
  reason: page.getByLabel("Why", { exact: true }),
  note: page.getByLabel("Note", { exact: true }),
  roll: page.getByRole("button", { name: /Roll$/ }),
});

const focused = (page, locator) => locator.evaluate((element) => element === document.activeElement);

export async function checkPart(kit) {
  const table = await kit.table("Two screens");
  const [gm, player] = await Promise.all([kit.signIn(table, "gm"), kit.signIn(table, "player")]);
  await rolls(kit, gm, player);
  await announcements(kit, gm, player);
  await refusals(kit, gm);
  await trackers(kit, gm, player);
  await sessions(kit, table, gm, player);
  await phone(kit, table, player);
  await colours(kit, player);
}

async function rolls(kit, gm, player) {
  const [own, other] = [parts(gm.page), parts(player.page)];
  await other.note.fill("what I was about to write");
  await other.note.focus();
  await own.expression.fill("duality(+3, dc 13)");
  await kit.waits("the odds follow the typing", () => gm.page.getByText(/\d+ ?%/).first().waitFor());
  await own.reason.fill("Rings the bell");
  await own.roll.click();
  await kit.waits("a roll is on the other screen", () => waitForText(other.log, "Rings the bell"));
  await kit.waits("and on the own one", () => waitForText(own.log, "Rings the bell"));
  await kit.waits("and the last roll", () => waitForText(other.now, "Rings the bell"));
  kit.same("what was typed stays", await other.note.inputValue(), "what I was about to write");
  kit.check("the focus stays", await focused(player.page, other.note));
  await kit.waits("a box is empty once it was sent", () => waitForValue(() => own.reason.inputValue(), ""));
  const spoken = player.page.locator("[aria-live=polite]").filter({ hasText: "Rings the bell" });
  kit.check("a roll is announced", (await spoken.count()) > 0);
  await other.note.fill("The ferryman waves");
  await player.page.getByRole("button", { name: "Note it" }).click();
  await kit.waits("a note is on the other screen", () => waitForText(own.log, "The ferryman waves"));
}

// A live region speaks what is added to it: each roll once, also one with the words of the roll before.
async function announcements(kit, gm, player) {
  await player.page.evaluate(() => {
    window.spoken = [];
    const region = document.getElementById("announce");
    const listen = (changes) => window.spoken.push(...changes.flatMap(({ addedNodes }) => [...addedNodes].map((node) => node.textContent.trim())));
    new MutationObserver(listen).observe(region, { childList: true, subtree: true });
  });
  const { expression, reason, roll, note } = parts(gm.page);
  const spoken = () => player.page.evaluate(() => window.spoken.filter((text) => text.includes("Knocks")).length);
  for (const times of [1, 2, 3]) {
    await expression.fill("1d1");
    await reason.fill("Knocks");
    await roll.click();
    await kit.waits(`a roll with the same words is announced: ${times}`, () => waitForValue(spoken, times));
  }
  await note.fill("Nobody answers");
  await gm.page.getByRole("button", { name: "Note it" }).click();
  await waitForText(parts(player.page).log, "Nobody answers");
  kit.same("and no roll twice", await spoken(), 3);
}

async function refusals(kit, gm) {
  const { expression, roll } = parts(gm.page);
  gm.expect(400, new URL(await roll.evaluate((button) => button.form.action)).pathname);
  await expression.fill("2dd6");
  await roll.click();
  await kit.waits("a refused roll is explained", () => gm.page.getByRole("alert").first().waitFor());
  kit.same("and what was typed is there", await expression.inputValue(), "2dd6");
  await kit.waits("the field says that it is wrong", () => waitForValue(() => expression.getAttribute("aria-invalid"), "true"));
  kit.same("and by what it is described", await expression.getAttribute("aria-describedby"), "odds table-fault");
  kit.check("and has the focus", await focused(gm.page, expression));
  await gm.checkAxe("a refused roll");
  await expression.fill("1d20");
  kit.same("until somebody types", [await expression.getAttribute("aria-invalid"), await expression.getAttribute("aria-describedby")], [null, "odds"]);
  await roll.click();
  await kit.waits("the error goes with the next roll", () => gm.page.getByRole("alert").first().waitFor({ state: "detached" }));
}

async function trackers(kit, gm, player) {
  const up = (page) => page.getByRole("button", { name: /^.?\s*Mira: Hope up$/ });
  const value = async (page) => Number((await textOf(page.getByRole("listitem").filter({ has: up(page) }).last())).match(/(\d+)\s*\/\s*\d+/)[1]);
  const before = await value(gm.page);
  await up(player.page).click();
  await kit.waits("a tracker moves on the other screen", () => waitForValue(() => value(gm.page), before + 1));
  await up(player.page).focus();
  await player.page.keyboard.press("Enter");
  await kit.waits("a change is in the log", () => waitForText(parts(gm.page).log, "Hope"));
  kit.check("the focus stays on the button", await focused(player.page, up(player.page)));
  for (let left = 6; left > 0 && (await up(player.page).getAttribute("aria-disabled")) === null; left -= 1) {
    const at = await value(gm.page);
    await player.page.keyboard.press("Enter");
    await waitForValue(() => value(player.page), at + 1);
  }
  await kit.waits("a tracker at its limit says so", () => waitForValue(() => up(player.page).getAttribute("aria-disabled"), "true"));
  kit.check("and its button keeps the focus", await focused(player.page, up(player.page)));
  const full = await value(player.page);
  const sent = [];
  player.page.on("request", (request) => { if (request.method() === "POST") sent.push(request.url()); });
  await player.page.keyboard.press("Enter");
  await player.page.waitForTimeout(200);
  kit.same("and sends nothing", [sent, await value(player.page)], [[], full]);
  await player.checkAxe("a tracker at its limit");
}

async function sessions(kit, table, gm, player) {
  const end = (page) => page.getByRole("button", { name: "End the session" });
  await unfold(gm.page.getByRole("main"), "Game master");
  kit.same("the player sees nothing of that", await end(player.page).count(), 0);
  await gm.page.getByLabel("Spotlight", { exact: true }).selectOption({ label: "Tam" });
  await gm.page.getByLabel("New scene").fill("The bell chamber");
  await gm.page.getByRole("button", { name: "Set", exact: true }).click();
  await kit.waits("a scene is on the other screen", () => waitForText(parts(player.page).now, "The bell chamber"));
  await gm.page.evaluate(() => { window.isSamePage = true; });
  await end(gm.page).click();
  await gm.page.getByLabel("Name of the next session").waitFor();
  await kit.waits("the end of a session leaves the focus where one goes on", () => waitForValue(() => focused(gm.page, gm.page.getByLabel("Name of the next session")), true));
  await kit.waits("the end of a session is on the other screen", () => waitForText(parts(player.page).now, "ended"));
  await gm.page.getByLabel("Name of the next session").fill("The second bell");
  await gm.page.getByRole("button", { name: "Start it" }).click();
  await kit.waits("the next session is on the other screen", () => waitForText(parts(player.page).now, "The second bell"));
  await kit.waits("also on the own one", () => waitForText(parts(gm.page).now, "The second bell"));
  kit.check("without a reload", await gm.page.evaluate(() => window.isSamePage));
  await player.page.reload();
  await kit.waits("and one may roll in it", () => parts(player.page).roll.waitFor());
  await player.goto(`${table.path}/sessions/1`);
  const evening = await textOf(player.page.getByRole("main"));
  kit.check("an evening has its rolls and notes", evening.includes("Rings the bell") && evening.includes("The ferryman waves"), evening);
  await kit.waits("the mark of what is new goes there too", () => player.page.locator(".fresh").first().waitFor({ state: "detached" }));
  const luck = player.page.getByRole("img", { name: /lucky/ });
  await luck.scrollIntoViewIfNeeded();
  await kit.waits("and a picture of luck", () => luck.evaluate((image) => image.decode()));
  const dark = player.page.waitForResponse((response) => /luck\.svg\?.*theme=dark/.test(response.url()));
  await player.page.getByRole("button", { name: /^Colours of the system/ }).click();
  await kit.waits("which is drawn again in other colours", async () => {
    if (!(await (await dark).text()).includes("#151a23")) throw new Error("the picture is not dark");
  });
  await player.page.getByRole("button", { name: /^Dark colours/ }).click();
  await player.page.getByRole("button", { name: /^Light colours/ }).click();
}

async function phone(kit, table, player) {
  const { page } = player;
  await page.setViewportSize(sizes.phone);
  await player.goto(table.path);
  const { log, roll } = parts(page);
  const tab = (name) => page.getByRole("button", { name, exact: true });
  kit.check("one part at a time on a phone", !(await log.isVisible()) && (await roll.isVisible()));
  await tab("Log").click();
  kit.check("the log is a tab", await log.isVisible());
  await tab("Characters").click();
  const name = page.getByRole("heading", { name: LONG_NAME });
  kit.check("the characters are a tab, also long names", (await name.isVisible()) && !(await log.isVisible()));
  await tab("Now").click();
  await table.call("roll", { session_id: (await table.call("campaign_read", { view: "sessions", campaign_id: table.campaign })).sessions.find(({ status }) => status === "ACTIVE").id, actor_id: table.actors.Mira, expression: "1d6", reason: "Counts the steps" });
  const toast = page.locator(".toast");
  await kit.waits("a roll of somebody else slides over the top", () => toast.filter({ hasText: "Counts the steps" }).waitFor({ state: "visible" }));
  await toast.waitFor({ state: "hidden" });
  await parts(page).expression.fill("1d4");
  await roll.click();
  await kit.waits("an own roll is shown", () => waitForValue(async () => (await page.locator("#announce").textContent()).includes("Counts"), false));
  await page.waitForTimeout(300);
  kit.check("and does not slide over the own form", !(await toast.isVisible()), await toast.textContent());
  await page.setViewportSize(sizes.wide);
}

async function colours(kit, player) {
  const { page } = player;
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const button = page.getByRole("button", { name: /^Colours of the system/ });
  const light = await ground();
  await button.click();
  const dark = await ground();
  kit.check("dark by the button, without a reload", light !== dark, [light, dark]);
  await page.reload();
  kit.same("and after a reload", await ground(), dark);
}
