// Writing in the lore: a new entry, its posts, versions, the archive, two people at once, and what is revealed.

import { textOf, unfold, waitForValue } from "../harness.mjs";
import { addLore } from "../world.mjs";

export async function checkPart(kit) {
  const table = await addLore(await kit.table("Written"));
  const gm = await kit.signIn(table, "gm", { path: `${table.path}/lore` });
  const entry = await newEntry(kit, table, gm);
  await posts(kit, gm, entry);
  await versions(kit, gm, entry);
  await archive(kit, table, gm, entry);
  await twoWriters(kit, table, gm);
  await twoBrowsers(kit, table, gm);
  await handout(kit, table, gm);
  await gm.goto(`${table.path}/kanka`);
  await kit.waits("a campaign without Kanka says so", () => gm.page.getByText("Not linked to Kanka", { exact: true }).waitFor());
  await gm.checkAxe("without Kanka");
}

const text = (page) => page.getByLabel("Text", { exact: true });
const save = (page) => page.getByRole("button", { name: "Save", exact: true });
const heading = (page, name) => page.getByRole("heading", { level: 1, name });

async function newEntry(kit, table, gm) {
  const { page } = gm;
  await page.getByRole("link", { name: "New entry" }).click();
  await text(page).waitFor();
  await gm.checkAxe("a new entry");
  await page.getByLabel("Name", { exact: true }).fill("The ferryman");
  await page.getByLabel("What it is").selectOption({ label: "Character" });
  await page.getByLabel("Tags", { exact: true }).fill("river, dead");
  await text(page).fill("He rows **backwards** to [[Dunmere]] and [[Nowhere at all]].");
  const preview = page.getByRole("region", { name: "Preview" });
  await kit.waits("the preview follows the typing", () => preview.locator("strong", { hasText: "backwards" }).waitFor());
  await kit.waits("and names what leads nowhere", () => preview.getByText("Nowhere at all").first().waitFor());
  await save(page).click();
  await heading(page, "The ferryman").waitFor();
  await kit.waits("a new entry says what leads nowhere", () => page.getByText(/lead nowhere yet/).waitFor());
  kit.check("it links what it mentions", await page.getByRole("link", { name: "Dunmere" }).first().isVisible());
  await gm.checkAxe("an entry");
  return new URL(page.url()).pathname;
}

async function posts(kit, gm, entry) {
  const { page } = gm;
  await page.getByRole("link", { name: "Add a post" }).click();
  await page.getByLabel("Title").fill("His price");
  await text(page).fill("A name that nobody uses any more.");
  await gm.checkAxe("a new post");
  await save(page).click();
  await kit.waits("a post is with its entry", () => page.getByRole("heading", { name: /His price/ }).waitFor());
  await page.getByRole("link", { name: "Edit His price" }).click();
  await text(page).fill("A name, or three coins.");
  await gm.checkAxe("the editor of a post");
  await save(page).click();
  await kit.waits("a post can be changed", () => page.getByText("or three coins").waitFor());
  await page.getByRole("link", { name: "Edit His price" }).click();
  await page.getByRole("button", { name: "Delete the post" }).click();
  await kit.waits("and deleted", () => page.getByText(/in the archive/).first().waitFor());
  await page.getByRole("button", { name: "Take back His price" }).click();
  await kit.waits("and taken back", () => page.getByText("or three coins").waitFor());
  kit.same("at its entry", new URL(page.url()).pathname, entry);
}

async function versions(kit, gm, entry) {
  const { page } = gm;
  await gm.goto(`${entry}/edit`);
  await page.getByLabel("Kind", { exact: true }).fill("Ghost");
  await text(page).fill("He rows forwards now.");
  await save(page).click();
  await heading(page, "The ferryman").waitFor();
  await page.getByRole("link", { name: "History" }).click();
  await gm.checkAxe("a history");
  await page.getByRole("link", { name: /^Version/ }).first().click();
  const shown = await textOf(page.getByRole("main"));
  kit.check("a version shows what differs", shown.includes("He rows forwards now.") && shown.includes("He rows **backwards**") && shown.includes("Ghost"), shown);
  await gm.checkAxe("a version");
  await gm.goto(`${entry}/history/1`);
  await page.getByRole("button", { name: "Go back to this version" }).click();
  await kit.waits("one can go back", () => page.locator("strong", { hasText: "backwards" }).waitFor());
}

async function archive(kit, table, gm, entry) {
  const { page } = gm;
  await gm.goto(`${entry}/edit`);
  // The script of the page that is left may still ask for it.
  gm.allow(404, `${entry}/edit`);
  await page.getByRole("button", { name: "Delete it" }).click();
  await kit.waits("what is deleted is in the archive", () => page.getByRole("button", { name: "Take back The ferryman" }).waitFor());
  await gm.checkAxe("the archive");
  gm.expect(404, entry);
  kit.same("and no longer there", (await gm.goto(entry)).status(), 404);
  await gm.goto(`${table.path}/lore/archive`);
  await page.getByRole("button", { name: "Take back The ferryman" }).click();
  await kit.waits("until it is taken back", () => heading(page, "The ferryman").waitFor());
}

// Somebody else saves while one types: a warning at once, both versions when one saves, and nothing typed is lost.
async function twoWriters(kit, table, gm) {
  const { page } = gm;
  const { listeners } = table.entities;
  const path = `${table.path}/lore/${listeners}`;
  await gm.goto(`${path}/edit`);
  await text(page).fill("They answer the bell.\n\nWhat I was about to save.");
  await table.call("update_entities", { campaign_id: table.campaign, updates: [{ entity_id: listeners, entry: "They answer the bell.\n\nSaved by somebody else." }] });
  await kit.waits("an editor says that somebody else saved", () => page.getByText(/somebody else has just saved/i).waitFor());
  gm.expect(409, `${path}/edit`);
  await save(page).click();
  await kit.waits("both versions are shown", () => page.getByRole("heading", { name: "Somebody else was faster" }).waitFor());
  const shown = await textOf(page.getByRole("main"));
  kit.check("theirs and ours", shown.includes("Saved by somebody else.") && shown.includes("What I was about to save."), shown);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await gm.checkAxe(`both versions ${colorScheme}`);
  }
  await page.getByRole("radio", { name: /Keep both/ }).check();
  await save(page).click();
  await kit.waits("one can keep both", () => page.getByText("Saved by somebody else.").waitFor());
  kit.check("and what was typed", await page.getByText("What I was about to save.").isVisible());

  // What only one side changed needs no question.
  await gm.goto(`${path}/edit`);
  await page.getByLabel("Kind", { exact: true }).fill("Choir");
  await table.call("update_entities", { campaign_id: table.campaign, updates: [{ entity_id: listeners, tags: ["singing"] }] });
  await page.getByText(/somebody else has just saved/i).waitFor();
  await save(page).click();
  await kit.waits("what only one side changed is put together", () => page.getByText("Choir", { exact: true }).waitFor());
  kit.check("with what the other changed", await page.getByRole("link", { name: "singing" }).first().isVisible());
}

// Two people write in two browsers: whoever saves later sees both versions, and takes theirs or keeps the own one.
async function twoBrowsers(kit, table, gm) {
  const other = await kit.signIn(table, "gm");
  const { listeners } = table.entities;
  const entry = `${table.path}/lore/${listeners}`;
  const made = await table.call("create_posts", { campaign_id: table.campaign, posts: [{ entity_id: listeners, name: "Their song", entry: "It has one verse.", is_private: false }] });
  const places = [["an entry", `${entry}/edit`], ["a post", `${entry}/posts/${made.results[0].post_id}`]];
  for (const [what, path] of places) {
    for (const [turn, choice, kept, dropped] of [["first", "Take theirs", "faster", "slower"], ["second", "Keep mine", "slower", "faster"]]) {
      const words = (who) => `The ${who} hand wrote ${what} for the ${turn} time.`;
      await Promise.all([gm.goto(path), other.goto(path)]);
      await text(gm.page).fill(words("slower"));
      await text(other.page).fill(words("faster"));
      await save(other.page).click();
      await kit.waits(`${what}: the first one saves`, () => other.page.getByText(words("faster")).first().waitFor());
      await kit.waits(`${what}: the other is told`, () => gm.page.getByText(/somebody else has just saved/i).waitFor());
      gm.expect(409, path);
      const answer = gm.page.waitForResponse((response) => response.request().method() === "POST" && new URL(response.url()).pathname === path);
      await save(gm.page).click();
      kit.same(`${what}: the second one is asked`, (await answer).status(), 409);
      await kit.waits(`${what}: with both versions`, () => gm.page.getByText(words("faster")).first().waitFor());
      kit.check(`${what}: also the own one`, await gm.page.getByText(words("slower")).first().isVisible());
      await gm.page.getByRole("radio", { name: choice }).first().check();
      await save(gm.page).click();
      await kit.waits(`${what}: ${choice} is saved`, () => gm.page.getByText(words(kept)).first().waitFor());
      kit.same(`${what}: ${choice} saves nothing else`, await gm.page.getByText(words(dropped)).count(), 0);
      await gm.goto(path);
      kit.same(`${what}: ${choice} is in the editor`, await text(gm.page).inputValue(), words(kept));
      kit.same(`${what}: and no draft is left`, await gm.page.getByRole("button", { name: "Bring back what you typed" }).count(), 0);
    }
  }
  // A draft has the name of who typed it: another user of the browser is not offered it.
  await text(gm.page).fill("A draft that is not saved.");
  const keys = () => gm.page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("skald-draft:")));
  await kit.waits("a draft is kept, and no other", () => waitForValue(async () => (await keys()).length, 1));
  const [key] = await keys();
  kit.check("under the name of who typed it", /^skald-draft:[^:/]+:\/c\//.test(key), key);
  await gm.page.reload();
  await kit.waits("it is offered again", () => gm.page.getByRole("button", { name: "Bring back what you typed" }).waitFor());
  await gm.page.evaluate((from) => { localStorage.setItem(from.replace(/:[^:/]+:/, ":tok_somebody:"), localStorage.getItem(from)); localStorage.removeItem(from); }, key);
  await gm.page.reload();
  await text(gm.page).waitFor();
  kit.same("to nobody else", await gm.page.getByRole("button", { name: "Bring back what you typed" }).count(), 0);
}

// A handout: nothing is told for ten seconds; then it appears where it may be seen, as does what changes in it.
async function handout(kit, table, gm) {
  const { page } = gm;
  const { key } = table.entities;
  const player = await kit.signIn(table, "player", { path: `${table.path}/lore` });
  const seen = player.page.getByRole("link", { name: "A pearl key" });
  await gm.goto(`${table.path}/lore/${key}`);
  const several = await unfold(page.getByRole("main"), /Reveal to several.*The entry/);
  await table.call("create_posts", { campaign_id: table.campaign, posts: [{ entity_id: key, name: "Its twin", entry: "It lies on the sea floor.", is_private: true }] });
  await kit.waits("what others add can be revealed", () => page.getByRole("button", { name: /^Reveal to Ben\s*: Its twin/ }).waitFor());
  kit.check("and what was unfolded stays so", (await several.getAttribute("open")) !== null);
  await page.clock.install();
  await gm.goto(`${table.path}/lore/${key}`);
  const reveal = page.getByRole("button", { name: /^Reveal to Ben\s*: The entry/ });
  const undo = page.getByRole("button", { name: "Undo", exact: true });
  await reveal.click();
  await page.clock.runFor(5_000);
  await undo.click();
  await page.clock.runFor(15_000);
  kit.check("an undone reveal reveals nothing", (await textOf(page.getByRole("main"))).includes("Only game masters know it."));
  await reveal.click();
  await page.clock.runFor(8_000);
  kit.check("nobody is told before the time is over", !(await player.page.content()).includes("A pearl key"));
  await page.clock.runFor(3_000);
  await kit.waits("a handout appears on the player's screen", () => seen.first().waitFor());
  await player.checkAxe("a handout in the list");
  await kit.waits("the game master sees who knows it", () => page.getByText(/Known by Ben/).waitFor());
  await seen.first().click();
  await heading(player.page, "A pearl key").waitFor();
  await player.checkAxe("a handout");
  await table.call("update_entities", { campaign_id: table.campaign, updates: [{ entity_id: key, entry: "It is dry now, and warm." }] });
  await kit.waits("a change of it appears where it is read", () => player.page.getByText("It is dry now").waitFor());
  player.allow(404, `${table.path}/lore/${key}`);
  await page.getByRole("button", { name: /^Hide from Ben\s*: The entry/ }).click();
  await kit.waits("what is hidden again leaves the player's screen", () => player.page.getByText("It is dry now").waitFor({ state: "detached" }));
}
