// What is at a table before somebody looks: people, characters, rolls, lore, a timeline, a held change, a sky and runs.

export const LONG_NAME = "Isolde of the Long Tide, keeper of the seventh and last bell";
export const JAPANESE_NAME = "鐘の守り人・深い海の町の最後の番人";
export const RIGHT_TO_LEFT_NAME = "حارس الجرس السابع والأخير";

// A campaign with three players and their characters, and a session that goes on.
export async function createTable(server, { name = "The Drowned Bells" } = {}) {
  const { call } = bound(server);
  const theme = "A town that rings under the sea. Something answers.";
  const campaign = (await call("campaign_create", { name, gm_mode: "AI", theme_prompt: theme })).id;
  const table = { server, campaign, name, call, path: `/c/${campaign}`, people: {}, actors: {} };
  for (const person of ["Ana", "Ben", "Cleo"]) {
    table.people[person] = (await call("participant_create", { campaign_id: campaign, display_name: person, role: "PLAYER" })).id;
  }
  const played = [["Mira", "Ana"], ["Tam", "Ben"], [LONG_NAME, "Cleo"]];
  for (const [actor, player] of played) {
    const made = await call("actor_create", { campaign_id: campaign, name: actor, kind: "PC", controller: table.people[player], template: "daggerheart" });
    table.actors[actor] = made.id;
  }
  for (const [actor, value] of [[JAPANESE_NAME, "5/5"], [RIGHT_TO_LEFT_NAME, "24/40"]]) {
    const made = await call("actor_create", { campaign_id: campaign, name: actor, kind: "NPC", controller: "GM", trackers: { HP: value } });
    table.actors[actor] = made.id;
  }
  await call("tracker", { campaign_id: campaign, method: "set", trackers: [
    { name: "Flood clock", value: 3, min: 0, max: 8, meaning: "The square floods." },
    { name: "Fear", value: 4, min: 0, max: 12 },
    { name: "Silver", value: 42 },
  ] });
  table.session = (await call("session_start", { campaign_id: campaign, name: "The first bell" })).id;
  await call("session_note", { campaign_id: campaign, scene: "The drowned square", spotlight: "Mira", text: "Water to the knees; the bell rings once, from below." });
  await call("duality_action_roll", { session_id: table.session, actor_id: table.actors.Mira, modifier: 2, difficulty: 14, reason: "Leaps to the statue" });
  await call("roll", { session_id: table.session, actor_id: table.actors.Tam, expression: "2d8+3", reason: "Strikes at the drowned guard" });
  return table;
}

function bound(server) {
  return { call: (operation, input) => server.call(operation, input) };
}

// Entries that mention each other, posts, a relationship, days of the timeline, and a change that waits for a person.
export async function addLore(table) {
  const { call, campaign } = table;
  const town = "Bells ring under the **drowned square** when the tide turns. [[Abbess Ruane]] counts them.\n\n- the first for the drowned\n- the second for those who listen";
  const entities = [
    { entity_type: "character", name: "Abbess Ruane", type: "NPC", entry: "She keeps the list of names, and has not slept since the flood.", tags: ["abbey"], aliases: ["The Sleepless"] },
    { entity_type: "location", name: "Dunmere", type: "Town", entry: town, tags: ["coast", "drowned"] },
    { entity_type: "organization", name: "The Listeners", type: "Faction", entry: "They answer the bell. [[Abbess Ruane]] led them once.", tags: ["abbey"] },
    { entity_type: "item", name: "A pearl key", entry: "It is wet, however long it lies by the fire.", is_private: true },
  ];
  const created = await call("create_entities", { campaign_id: campaign, entities });
  const [ruane, dunmere, listeners, key] = created.results.map((result) => result.entity_id);
  table.entities = { ruane, dunmere, listeners, key };
  await call("create_posts", { campaign_id: campaign, posts: [{ entity_id: dunmere, name: "Rumours", entry: "The ferryman was seen after his burial." }] });
  await call("relationships", { campaign_id: campaign, method: "add", entity_id: ruane, target_id: listeners, type: "leads", tone: "fearful" });
  const day = (date, sort, description, more) => call("timeline", { campaign_id: campaign, method: "add", date, sort, description, is_player_known: true, ...more });
  await day("3rd of Rain, 1204", "1204-03-03", "The sea came over the square.", { entity_ids: [dunmere] });
  await day("1st of Frost, 1203", "1203-11-01", "The Listeners chose another abbess.", { entity_ids: [listeners, ruane] });
  await call("canon", { campaign_id: campaign, method: "mark", entity_id: ruane, confidence: "AUTHORITATIVE" });
  return table;
}

// Holds a change of what is established until a person decides.
export function holdChange(table, entry = "She sleeps very well.") {
  return table.call("update_entities", { campaign_id: table.campaign, updates: [{ entity_id: table.entities.ruane, entry }] });
}

export const body = (name, color, more) => ({ name, mass: 1, radius: 1, color, parentId: null, orbitalDistance: 0, orbitalSpeed: 0, orbitalPhase: 0, ...more });

// A lamp with three bodies around it.
export async function addSky(table, universeId = `tides-${table.campaign}`) {
  const { call, campaign } = table;
  table.universe = universeId;
  table.skyPath = `${table.path}/sky/${encodeURIComponent(universeId)}`;
  await call("universe", { method: "create", universeId, name: "The tides", campaignId: campaign });
  const around = (id, name, distance, days, phase, color) => ({
    type: "addStar", id, payload: body(name, color, { parentId: "sun", orbitalDistance: distance, orbitalSpeed: undefined, orbitalPeriodDays: days, orbitalPhase: phase, radius: 2, bodyType: "planet" }),
  });
  await call("send_universe_command", {
    universeId,
    command: { type: "addStar", id: "sun", payload: body("The lamp", "#F5C542", { radius: 6, bodyType: "star" }) },
    commands: [
      around("home", "Home", 40, 120, 20, "#3E7CB1"),
      around("bell", "The bell", 70, 300, 140, "#7A9E7E"),
      around("tide", "Tide", 110, 700, 260, "#B13E53"),
    ],
  });
  return table;
}

// A quest that waits for its answer.
export async function addQuest(table, context) {
  const begun = await table.call("state_gate.create_run", { process_id: "quest", campaign_id: table.campaign, context });
  table.quest = begun.run_id;
  return table;
}

const paragraph = "The bell below Dunmere rings when the tide turns, and whoever hears it dreams of the abbey as it was before the flood.";

// A canon review by an agent, as far as the decision of somebody else.
export async function addReview(table) {
  const { call, campaign } = table;
  const { run_id: run } = await call("state_gate.create_run", { process_id: "canon-review", campaign_id: campaign, context: { subject: "the bell below", world: "Dunmere" } });
  const emit = emitter(table, run);
  await emit("submit_draft", { artifacts: [{ path: "draft.md", text: `${paragraph} ${paragraph}` }] });
  const sources = [["source-dunmere.md", `Dunmere agrees. ${paragraph}`], ["source-ruane.md", `Ruane agrees as well. ${paragraph}`]];
  await emit("submit_check", { payload: { checked_entries: 2, contradictions: 0 }, artifacts: sources.map(([path, text]) => ({ path, text })) });
  await emit("request_review");
  return run;
}

// Emits events of a run, one after the other. An event that is only recorded is a success as well.
export function emitter(table, run, revision = 1) {
  return async (event_name, more) => {
    const input = { run_id: run, event_name, payload: {}, expected_revision: revision, idempotency_key: `${run}-${revision}`, ...more };
    const emission = await table.call("state_gate.emit_event", input);
    revision = emission.new_revision ?? revision + 1;
    return emission;
  };
}
