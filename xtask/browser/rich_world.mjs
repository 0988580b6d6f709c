// A table as it looks in the middle of a campaign, for pictures: trackers of all kinds, a critical, a private roll, a long
// entry with posts, a sky at a moment, and a quest with evidence that has passed its first state.

import { JAPANESE_NAME, LONG_NAME, RIGHT_TO_LEFT_NAME, addLore, addQuest, addSky, body, createTable, emitter, holdChange } from "./world.mjs";

// A seed whose Hope and Fear are the same.
const CRITICAL_SEED = 14;

export async function createRichTable(server, name) {
  const table = await createTable(server, { name });
  await addLore(table);
  await addSky(table);
  await Promise.all([addTrackers(table), addEntries(table), addBodies(table), addClues(table)]);
  await holdChange(table);
  await addRolls(table);
  return table;
}

// A table with just enough for each page to show something, under a name that is hard to typeset.
export async function createNamedTable(server, name) {
  const table = await addQuest(await addSky(await addLore(await createTable(server, { name }))), { quest: name, patron: name });
  await table.call("update_entities", { campaign_id: table.campaign, updates: [{ entity_id: table.entities.dunmere, name }] });
  await table.call("send_universe_command", { universeId: table.universe, command: { type: "updateStar", id: "bell", payload: { name } } }).catch(() => {});
  await holdChange(table);
  const emit = emitter(table, table.quest);
  await emit("accept_quest", { payload: { terms: name } });
  await emit("submit_clue", { payload: { summary: name, source: "place" }, artifacts: [{ path: "clue-1.md", text: `${name}: it rings beneath the hull.` }] });
  return table;
}

export const hardNames = { long: LONG_NAME, japanese: JAPANESE_NAME, "right-to-left": RIGHT_TO_LEFT_NAME };

async function addTrackers({ call, campaign, actors }) {
  const of = (actor_id, trackers) => trackers.map((tracker) => ({ actor_id, ...tracker }));
  await call("tracker", { campaign_id: campaign, method: "set", trackers: [
    ...of(actors.Mira, [{ name: "HP", value: 4, max: 7 }, { name: "Stress", value: 2, max: 6 }, { name: "Hope", value: 5, max: 6 }, { name: "Armor", value: 1, max: 3 }]),
    ...of(actors.Tam, [{ name: "HP", value: 6, max: 6 }, { name: "Stress", value: 0, max: 6 }, { name: "Hope", value: 1, max: 6 }, { name: "Arrows", value: 17, max: 20 }]),
    ...of(actors[LONG_NAME], [{ name: "HP", value: 2, max: 6 }, { name: "Stress", value: 6, max: 6 }, { name: "Hope", value: 3, max: 6 }]),
    { name: "The abbess's patience", value: 2, min: 0, max: 4, visible_to: ["gm"], meaning: "At 0 she drowns the list." },
  ] });
}

async function addEntries(table) {
  const { call, campaign, entities: { dunmere } } = table;
  const write = (entity_type, name, type, entry, tags, more) => ({ entity_type, name, type, entry, tags, ...more });
  await call("create_entities", { campaign_id: campaign, entities: [
    write("location", "The Bell Chamber", "Ruin", "Below [[Dunmere]], where the water does not move. [[The Mother below]] sleeps against the bronze.", ["drowned"]),
    write("character", "Oane the Ferryman", "NPC", "He was buried in spring. He rows [[Dunmere]]'s fog by night, [[Abbess Ruane]] pays him in names.", ["coast", "dead"]),
    write("quest", "Silence the bell", "Main", "Asked by [[Abbess Ruane]]. It leads to [[The Bell Chamber]].", ["abbey"]),
    write("event", "The Flood", "History", "In one night the square of [[Dunmere]] went under, and [[The Listeners]] were the only ones awake.", ["drowned"]),
    write("character", "The Mother below", "Secret", "She rings it. [[Oane the Ferryman]] is her first child.", ["drowned"], { is_private: true }),
    write("character", JAPANESE_NAME, "NPC", "[[Dunmere]]の鐘を守る。", ["coast"]),
    write("character", RIGHT_TO_LEFT_NAME, "NPC", "يحرس الجرس في [[Dunmere]].", ["coast"]),
  ] });
  const entry = [
    "Bells ring under the **drowned square** when the tide turns. [[Abbess Ruane]] counts them, [[The Listeners]] answer them, and [[Oane the Ferryman]] is paid by them.",
    "The upper town is salt-white and steep. Nobody builds to the south, where stairs go down into the water and on, as far as a lamp reaches. On still nights one sees windows lit.",
    "## What the table knows",
    "- The first bell is for the drowned.\n- The second is for those who listen.\n- Nobody who lives here has heard a third.",
    "> Count with me, said the abbess, and if I stop, do not.",
    "Who asks in the market is sent to [[The Bell Chamber]], laughing. Who asks twice is asked for their name.",
  ].join("\n\n");
  await call("update_entities", { campaign_id: campaign, updates: [{ entity_id: dunmere, entry, aliases: ["The Salt Steps", "Dun Mere"] }] });
  await call("create_posts", { campaign_id: campaign, posts: [
    { entity_id: dunmere, name: "The harbour master's book", entry: "Eleven boats out, twelve back. The twelfth carried water." },
    { entity_id: dunmere, name: "What is under it", entry: "[[The Mother below]] has the square as her cradle. She wakes at the seventh bell.", is_private: true },
  ] });
}

async function addBodies({ call, universe, skyPath }) {
  const around = (id, name, color, [parentId, distance, days, phase], more) => ({
    type: "addStar", id, payload: body(name, color, { parentId, orbitalDistance: distance, orbitalSpeed: undefined, orbitalPeriodDays: days, orbitalPhase: phase, bodyType: "planet", radius: 2, ...more }),
  });
  await call("send_universe_command", {
    universeId: universe,
    command: around("ember", "Ember", "#D9603B", ["sun", 22, 48, 310], { radius: 1.4 }),
    commands: [
      around("salt", "Salt", "#E8E2D0", ["sun", 150, 1_150, 75], { radius: 4 }),
      around("deep", "The deep one", "#38508F", ["sun", 200, 2_100, 205], { radius: 5 }),
      around("lantern", "Lantern", "#CFCFCF", ["home", 6, 27, 130], { radius: 0.6, bodyType: "moon" }),
      around("pearl", "Pearl", "#F3E9F0", ["salt", 9, 40, 30], { radius: 0.8, bodyType: "moon" }),
      around("oar", "Oar", "#9AA0A6", ["deep", 10, 33, 300], { radius: 0.8, bodyType: "moon" }),
      around("wanderer", "The wanderer", "#9FE3E0", ["sun", 90, 820, 350], { radius: 0.5, bodyType: "comet", semiMajorAxis: 90, eccentricity: 0.7 }),
    ],
  });
  return skyPath;
}

async function addClues(table) {
  await addQuest(table, { quest: "Silence the bell under Dunmere", patron: "Abbess Ruane", stakes: "The upper town goes under at the seventh bell", reward: "A name from her list", clock_size: 6 });
  const emit = emitter(table, table.quest);
  await emit("accept_quest", { payload: { terms: "Half of the names now, the others when it is silent.", reward: "Two names from her list" } });
  await emit("submit_clue", { payload: { summary: "It rings beneath the hull", source: "witness", found_by: "Tam" }, artifacts: [{ path: "clue-1.md", text: "The fisher heard it ring beneath the hull, three nights in a row, each night nearer to the steps." }] });
  await emit("advance_clock", { payload: { clock: 2, reason: "A night in the abbey" } });
  await emit("submit_clue", { payload: { summary: "The list has an empty line", source: "document", found_by: "Mira" }, artifacts: [{ path: "clue-list.md", text: "The list of the drowned has one empty line between the sixth name and the eighth, in the abbess's own hand." }] });
}

// The newest roll is a critical, below a private one.
async function addRolls(table) {
  const { call, campaign, session, actors } = table;
  await call("roll", { session_id: session, actor_id: actors[LONG_NAME], expression: "4d6kh3", reason: "Listens for the second bell" });
  await call("session_note", { campaign_id: campaign, text: "The ferryman takes no coin. He asks for the name of somebody who will not miss it." });
  await call("roll", { session_id: session, actor_id: actors[JAPANESE_NAME], expression: "1d20+4", reason: "Does the keeper see them?", visible_to: ["gm"] });
  await call("tracker", { campaign_id: campaign, method: "change", trackers: [{ name: "Flood clock", by: 1, reason: "the tide" }] });
  const rng = { seed: CRITICAL_SEED, roll_mode: "REPLAY" };
  const rolled = await call("duality_action_roll", { session_id: session, actor_id: actors.Mira, modifier: 2, difficulty: 14, reason: "Holds the clapper still", rng });
  if (!rolled.is_crit) throw new Error(`the seed ${CRITICAL_SEED} is no critical any more`);
}
