// Writes a marker into each kind of secret while a game master and a player have pages open. No marker may be in any byte
// that reaches the player's browser: no page, fragment, picture or stream. The game master's browser gets all of them.

import { Proxy } from "../proxy.mjs";
import { addLore, addQuest, addSky } from "../world.mjs";

const markers = {
  entry: "marker-of-an-entry", name: "marker-of-a-name", post: "marker-of-a-post", event: "marker-of-an-event",
  roll: "marker-of-a-roll", note: "marker-of-a-note", tracker: "marker-of-a-tracker", relationship: "marker-of-a-bond",
  held: "marker-of-a-change", quest: "marker-of-a-quest", form: "marker-of-a-form",
};
// 37 dice of 91 sides are thrown in secret and nowhere else.
const SECRET_DICE = "37d91";

export async function checkPart(kit) {
  const table = await addSky(await addLore(await kit.table("Kept")));
  const [ofPlayer, ofGameMaster] = [await Proxy.start(kit.server), await Proxy.start(kit.server)];
  // Not packed, so that the bytes can be read.
  const options = { extraHTTPHeaders: { "accept-encoding": "identity" } };
  const player = await kit.signIn(table, "player", { base: ofPlayer.base, options });
  const gm = await kit.signIn(table, "gm", { base: ofGameMaster.base, options });
  const planted = await plant(table);
  const own = gm.page.getByRole("region", { name: "Log" });
  await kit.waits("the game master sees the private note at once", () => own.getByText(markers.note).waitFor());
  await kit.waits("and the private roll", () => own.getByText(markers.roll).waitFor());
  await rollForGameMasters(gm.page);
  await kit.waits("also the one that was rolled with the form", () => own.getByText(markers.form).waitFor());
  await table.call("session_note", { campaign_id: table.campaign, text: "Everybody may know this." });
  const log = player.page.getByRole("region", { name: "Log" });
  await kit.waits("what comes after them is on the player's screen", () => log.getByText("Everybody may know this.").waitFor());
  await checkScreen(kit, player, "the table");

  await walk(kit, table, gm, [...paths(table), ...ofGameMasters(table, planted)]);
  player.allow(404, table.path);
  player.allow(403, table.path);
  await walk(kit, table, player, [...paths(table), ...ofGameMasters(table, planted)], true);
  await viewAs(kit, table, gm);

  const [seen, whole] = [ofPlayer.text(), ofGameMaster.text()];
  for (const [kind, marker] of Object.entries(markers)) {
    kit.check(`the game master's bytes have the ${kind}`, whole.includes(marker));
    kit.check(`the player's bytes have no ${kind}`, !seen.includes(marker), around(seen, marker));
  }
  kit.check("nor secret dice", !seen.includes(SECRET_DICE) && whole.includes(SECRET_DICE), around(seen, SECRET_DICE));
  kit.check("the streams were recorded", seen.includes("text/event-stream") && seen.includes("Everybody may know this."));
  for (const visitor of kit.visitors) visitor.isCut = true;
  ofPlayer.close();
  ofGameMaster.close();
}

// A private roll as game masters make it: with the form of the table.
async function rollForGameMasters(page) {
  const form = page.locator("form").filter({ has: page.getByRole("button", { name: /Roll$/ }) });
  await form.getByLabel("Roll", { exact: true }).fill(SECRET_DICE);
  await form.getByLabel("Why", { exact: true }).fill(markers.form);
  await form.getByLabel("Who sees it").selectOption({ label: "only game masters" });
  await form.getByRole("button", { name: /Roll$/ }).click();
}

const around = (text, word) => text.slice(Math.max(0, text.indexOf(word) - 200), text.indexOf(word) + 200);

// Creates secrets while both tables are open.
async function plant(table) {
  const { call, campaign } = table;
  const gm = ["gm"];
  const created = await call("create_entities", { campaign_id: campaign, entities: [
    { entity_type: "character", name: `The Mother ${markers.name}`, entry: `${markers.entry}. She waits below [[Dunmere]].`, tags: ["abbey"], aliases: [`Old ${markers.name}`], is_private: true },
  ] });
  const mother = created.results[0].entity_id;
  const { dunmere, ruane } = table.entities;
  await call("create_posts", { campaign_id: campaign, posts: [{ entity_id: dunmere, name: `Truth ${markers.post}`, entry: `${markers.post} is under the square.`, is_private: true }] });
  await call("relationships", { campaign_id: campaign, method: "add", entity_id: ruane, target_id: dunmere, type: "knows", description: markers.relationship, visible_to: gm });
  await call("timeline", { campaign_id: campaign, method: "add", date: "2nd of Rain, 1204", sort: "1204-03-02", description: `${markers.event} happened first.`, entity_ids: [dunmere], is_player_known: false });
  await call("update_entities", { campaign_id: campaign, updates: [{ entity_id: ruane, entry: `She sleeps: ${markers.held}.` }] });
  await addQuest(table, { quest: markers.quest, patron: "The abbess", stakes: "The town", reward: "Her list" });
  await call("tracker", { campaign_id: campaign, method: "set", trackers: [{ name: markers.tracker, value: 2, min: 0, max: 9, meaning: markers.tracker, visible_to: gm }] });
  await call("tracker", { campaign_id: campaign, method: "change", trackers: [{ name: markers.tracker, by: 1, reason: markers.tracker }] });
  await call("session_note", { campaign_id: campaign, text: `${markers.note}: she is awake.`, visible_to: gm });
  await call("roll", { session_id: table.session, actor_id: table.actors.Mira, expression: SECRET_DICE, reason: markers.roll, visible_to: gm });
  return { mother };
}

const paths = ({ path, skyPath, entities }) => [
  "/", path, `${path}/sessions`, `${path}/sessions/1`, `${path}/lore`, `${path}/lore?q=marker`, `${path}/lore?tag=abbey`,
  `${path}/lore/search?q=marker`, `${path}/lore/${entities.dunmere}`, `${path}/lore/${entities.ruane}`, `${path}/timeline?include=all`,
  `${path}/graph`, `${path}/graph.json`, `${path}/graph.svg`, `${path}/luck.svg`, `${path}/sky`, skyPath, `${path}/runs`,
];
// A player who types these addresses is refused.
const ofGameMasters = ({ path, quest }, { mother }) => [
  `${path}/lore/${mother}`, `${path}/lore/${mother}/edit`, `${path}/lore/${mother}/history`, `${path}/canon`, `${path}/canon/c1`, `${path}/runs/${quest}`, `${path}/lore/archive`,
];

async function walk(kit, table, visitor, addresses, isPlayer = false) {
  for (const path of addresses) {
    await visitor.goto(path);
    if (isPlayer) await checkScreen(kit, visitor, path);
  }
}

async function checkScreen(kit, { page }, what) {
  const html = await page.content();
  const found = [...Object.values(markers), SECRET_DICE].filter((marker) => html.includes(marker));
  // An address that was typed is shown again in the box of the search.
  kit.same(`no secret on the screen: ${what}`, found, []);
}

// The game master looks at the campaign as Ben sees it.
async function viewAs(kit, table, gm) {
  const { page } = gm;
  await gm.goto(`${table.path}/view-as`);
  await gm.checkAxe("whose view");
  await page.getByRole("button", { name: /^Ben/ }).click();
  await page.getByText("You see this campaign as Ben does").waitFor();
  for (const path of paths(table).slice(1, 7)) {
    await gm.goto(path);
    await checkScreen(kit, gm, `as Ben: ${path}`);
  }
  await gm.goto(table.path);
  await gm.checkAxe("the table as a player");
  gm.expect(403, `${table.path}/note`);
  await page.getByLabel("Note", { exact: true }).fill("As somebody else");
  await page.getByRole("button", { name: "Note it" }).click();
  await kit.waits("nothing is sent as somebody else", () => page.getByRole("alert").first().waitFor());
  await page.getByRole("button", { name: "Back to your own view" }).click();
  await page.getByText("You see this campaign as").waitFor({ state: "detached" });
  kit.check("and it leads back", (await page.getByText(markers.tracker).count()) > 0);
}
