// The search over any page: with / and Ctrl-K, as one types, by arrows, Enter and Ctrl-Enter; and the lists of the lore.

import { addLore } from "../world.mjs";

export async function checkPart(kit) {
  const table = await addLore(await kit.table("Found"));
  const player = await kit.signIn(table, "player");
  await palette(kit, table, player);
  await lists(kit, table, player);
}

async function palette(kit, table, player) {
  const { page } = player;
  const dialog = page.getByRole("dialog", { name: "Search the lore" });
  const box = dialog.getByRole("searchbox");
  const why = page.getByLabel("Why", { exact: true });
  await why.focus();
  await page.keyboard.type("a/b");
  kit.same("a slash in a box is a slash", [await why.inputValue(), await dialog.count()], ["a/b", 0]);
  await page.keyboard.press("Control+k");
  await kit.waits("Ctrl-K opens the search from a box", () => box.waitFor());
  kit.check("with the focus in it", await box.evaluate((element) => element === document.activeElement));
  await page.keyboard.type("mere");
  await kit.waits("hits come as one types", () => dialog.getByRole("link", { name: /Dunmere/ }).waitFor());
  await player.checkAxe("the search");
  // A search box empties itself first.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await kit.waits("Escape closes it", () => dialog.waitFor({ state: "hidden" }));
  kit.same("what was typed before is there", await why.inputValue(), "a/b");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("/");
  await kit.waits("a slash opens it elsewhere", () => box.waitFor());
  await box.fill("abbess");
  // Names come before texts.
  await dialog.getByRole("link").first().filter({ hasText: "Abbess Ruane" }).waitFor();
  await page.keyboard.press("ArrowDown");
  kit.check("an arrow goes to the first hit", await dialog.getByRole("link").first().evaluate((link) => link === document.activeElement));
  await box.focus();
  const [beside] = await Promise.all([player.context.waitForEvent("page"), page.keyboard.press("Control+Enter")]);
  await beside.waitForLoadState("load");
  await kit.waits("Ctrl-Enter opens it beside", () => beside.getByRole("heading", { level: 1, name: "Abbess Ruane" }).waitFor());
  await beside.close();
  await box.fill("pearl");
  await kit.waits("a secret is no hit of a player", () => dialog.getByText(/Nothing fits/).waitFor());
  await box.fill("dunm");
  await dialog.getByRole("link", { name: /Dunmere/ }).waitFor();
  await page.keyboard.press("Enter");
  await kit.waits("Enter opens it", () => page.getByRole("heading", { level: 1, name: "Dunmere" }).waitFor());
}

async function lists(kit, table, player) {
  const { page } = player;
  const main = page.getByRole("main");
  await player.goto(`${table.path}/lore`);
  await page.getByRole("navigation", { name: "Types" }).getByRole("link", { name: /Location|Place/ }).click();
  await kit.waits("a list by type", () => main.getByRole("link", { name: "Dunmere" }).first().waitFor());
  kit.same("has nothing else", await main.getByRole("link", { name: "The Listeners" }).count(), 0);
  await player.goto(`${table.path}/lore`);
  await page.getByRole("navigation", { name: "Tags" }).getByRole("link", { name: "abbey" }).click();
  await kit.waits("a list by tag", () => main.getByRole("link", { name: "The Listeners" }).first().waitFor());
  await player.goto(`${table.path}/lore?q=bell`);
  await kit.waits("a search in texts", () => main.getByRole("link", { name: "Dunmere" }).first().waitFor());
  await player.goto(`${table.path}/lore?q=zzzz`);
  await kit.waits("an empty list says what to do", () => page.getByText("Nothing fits").waitFor());
  await player.checkAxe("an empty list");
}
