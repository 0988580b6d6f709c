// Scripts are off: every page can be read, and every form sent; and axe finds nothing in what the server has rendered.

import { sideways, sizes, textOf, unfold } from "../harness.mjs";
import { pagesOf } from "../pages.mjs";
import { addLore, addQuest, addSky, holdChange } from "../world.mjs";

const options = { javaScriptEnabled: false };
const main = (page) => page.getByRole("main");
const log = (page) => page.getByRole("region", { name: "Log" });

export async function checkPart(kit) {
  const table = await addQuest(await addSky(await addLore(await kit.table("Plain"))), { quest: "Silence the bell" });
  await holdChange(table);
  await Promise.all([look(kit, table, "gm"), look(kit, table, "player")]);
  const [player, gm] = await Promise.all([kit.signIn(table, "player", { options }), kit.signIn(table, "gm", { options })]);
  await Promise.all([play(kit, table, player), write(kit, table, gm)]);
  await decide(kit, table, gm);
}

// With scripts off axe waits forever, since no promise of it is kept. So here scripts run, but those of the page are empty.
async function look(kit, table, role) {
  const visitor = await kit.open(`${role} with axe`);
  const { context, page } = visitor;
  await context.route("**/assets/*.js", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  await visitor.signIn(table.tokens[role], table.path);
  kit.check("no script of the page has run", await page.evaluate(() => typeof window.htmx === "undefined" && !document.body.classList.contains("has-tabs")));
  // The quest of this table has no evidence yet.
  const { everybody, players, gameMasters: { evidence, ...gameMasters } } = pagesOf(table);
  for (const [name, path] of Object.entries({ ...everybody, ...players, ...(role === "gm" ? gameMasters : {}) })) {
    kit.same(`${role} ${name} is there`, (await visitor.goto(path)).status(), 200);
    for (const size of [sizes.phone, sizes.wide]) {
      await page.setViewportSize(size);
      const wide = await sideways(page);
      kit.check(`no scrolling to the side: ${role} ${name} ${size.width}`, wide <= 0, wide);
      await visitor.checkAxe(`${role} ${name} ${size.width}`);
    }
  }
}

async function play(kit, table, player) {
  const { page } = player;
  for (const path of ["/", `${table.path}/sessions/1`, `${table.path}/lore`, `${table.path}/graph`, `${table.path}/sky`, "/browsers"]) {
    kit.same(`a page to read: ${path}`, (await player.goto(path)).status(), 200);
    kit.check(`it has its words: ${path}`, (await textOf(main(page))).length > 40);
  }
  await player.goto(table.path);
  kit.check("all parts of the table follow each other", (await log(page).isVisible()) && (await page.getByRole("heading", { name: "Mira" }).isVisible()));
  await page.getByLabel("Why", { exact: true }).fill("Without scripts");
  await page.getByRole("button", { name: /Roll$/ }).click();
  await kit.waits("a roll", () => log(page).getByText("Without scripts").waitFor());
  await page.getByLabel("Note", { exact: true }).fill("A note without scripts");
  await page.getByRole("button", { name: "Note it" }).click();
  await kit.waits("a note", () => log(page).getByText("A note without scripts").waitFor());
  await page.getByRole("button", { name: /Mira: Stress up$/ }).click();
  await kit.waits("a tracker", () => log(page).getByText(/Stress/).first().waitFor());
  player.expect(400, `${table.path}/roll`);
  await page.getByLabel("Roll", { exact: true }).fill("2dd6");
  await page.getByRole("button", { name: /Roll$/ }).click();
  await kit.waits("a refused roll", () => page.getByRole("alert").first().waitFor());
  const expression = page.getByLabel("Roll", { exact: true });
  kit.same("keeps what was typed", await expression.inputValue(), "2dd6");
  kit.same("and says it at the field", [await expression.getAttribute("aria-invalid"), await expression.getAttribute("aria-describedby")], ["true", "odds expression-fault"]);
  await player.goto("/dice");
  await page.getByLabel("Dice", { exact: true }).fill("4d6kh3");
  await page.getByRole("button", { name: "Show" }).click();
  await kit.waits("odds", () => main(page).getByText("12.2").first().waitFor());
  await page.getByRole("button", { name: /^Colours of the system/ }).click();
  await kit.waits("colours", () => page.getByRole("button", { name: /^Dark colours/ }).waitFor());
  await player.goto(`${table.path}/lore`);
  await main(page).getByRole("searchbox").fill("bells ring");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await main(page).getByRole("link", { name: "Dunmere" }).first().click();
  await kit.waits("a search", () => page.getByRole("heading", { level: 1, name: "Dunmere" }).waitFor());
  await player.goto(table.skyPath);
  await page.getByRole("spinbutton", { name: "Day", exact: true }).fill("30");
  await page.getByRole("button", { name: "Show" }).click();
  await kit.waits("a sky at another moment", () => page.getByText(/Looking changes nothing/).waitFor());
  await main(page).getByRole("link", { name: /^The bell/ }).click();
  await kit.waits("and a body of it", () => page.getByRole("heading", { level: 2, name: "The bell" }).waitFor());
  await player.goto(`${table.path}/timeline`);
  await page.getByLabel("About").fill("Dunmere");
  await page.getByRole("button", { name: "Filter" }).click();
  await kit.waits("a timeline", () => main(page).getByText("The sea came over the square.").waitFor());
}

async function write(kit, table, gm) {
  const { page } = gm;
  const text = page.getByLabel("Text", { exact: true });
  const save = page.getByRole("button", { name: "Save", exact: true });
  await gm.goto(`${table.path}/lore/new`);
  await page.getByLabel("Name", { exact: true }).fill("The ferryman");
  await text.fill("He rows **backwards**.");
  await page.getByRole("button", { name: "Preview" }).click();
  await kit.waits("a preview", () => page.locator("strong", { hasText: "backwards" }).waitFor());
  await save.click();
  await kit.waits("a new entry", () => page.getByRole("heading", { level: 1, name: "The ferryman" }).waitFor());
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await text.fill("He rows forwards.");
  await save.click();
  await kit.waits("an edit", () => page.getByText("He rows forwards.").waitFor());
  await page.getByRole("link", { name: "Add a post" }).click();
  await page.getByLabel("Title").fill("His price");
  await text.fill("Three coins.");
  await save.click();
  await kit.waits("a post", () => page.getByText("Three coins.").waitFor());
  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("link", { name: /^Version/ }).last().click();
  await page.getByRole("button", { name: "Go back to this version" }).click();
  await kit.waits("an older version", () => page.locator("strong", { hasText: "backwards" }).waitFor());
  await gm.goto(`${table.path}/lore/${table.entities.key}`);
  await page.getByRole("button", { name: /^Reveal to Ben/ }).first().click();
  await kit.waits("a reveal, at once", () => page.getByText(/Known by Ben/).waitFor());
  await gm.goto(`${table.path}/timeline`);
  await page.getByLabel("What happened").fill("The bell was raised.");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await kit.waits("an event of the timeline", () => main(page).getByText("The bell was raised.").waitFor());
  await gm.goto(table.skyPath);
  const add = await unfold(main(page), "Add a body");
  await add.getByLabel("Name").fill("The plain moon");
  await add.getByRole("button", { name: "Add" }).click();
  await kit.waits("a body", () => page.getByRole("heading", { level: 2, name: "The plain moon" }).waitFor());
}

async function decide(kit, table, gm) {
  const { page } = gm;
  await gm.goto(`${table.path}/runs`);
  await main(page).getByRole("link", { name: "Quest" }).click();
  const accept = await unfold(main(page), /^\s*Accept quest/);
  await accept.getByLabel("Terms").fill("Half now.");
  await accept.getByRole("button", { name: "Accept quest" }).click();
  await kit.waits("an event of a run", () => main(page).getByText("Stands at Investigation").waitFor());
  const override = await unfold(main(page), /Override.*Submit clue/);
  await override.getByLabel("Why it may go on all the same").fill("They saw it.");
  await override.getByRole("button", { name: /^Override/ }).click();
  await kit.waits("an override", () => main(page).getByText("Stands at Confrontation").waitFor());
  await gm.goto(`${table.path}/canon`);
  await main(page).getByRole("heading", { level: 2 }).getByRole("link").click();
  await page.getByLabel("Why", { exact: true }).fill("She is haunted.");
  await page.getByRole("button", { name: "Keep it as it is" }).click();
  await kit.waits("a decision about the canon", () => page.getByText("Nothing waits").waitFor());
  await gm.goto(table.path);
  await unfold(main(page), "Game master");
  await page.getByRole("button", { name: "End the session" }).click();
  await page.getByLabel("Name of the next session").fill("The second bell");
  await page.getByRole("button", { name: "Start it" }).click();
  await kit.waits("the next session", () => main(page).getByText("The second bell").first().waitFor());
}
