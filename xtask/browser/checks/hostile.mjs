// Hostile text in every field that people and programs fill in, on every page, as game master and as player: it is text.

import { BIDI, RIGHT_TO_LEFT, hostile, markdown } from "../hostile_texts.mjs";
import { body, emitter } from "../world.mjs";

export async function checkPart(kit) {
  const refused = await kit.server.call("campaign_create", { name: BIDI, gm_mode: "AI" }).catch((error) => String(error));
  kit.check("a name takes no character that turns text around", String(refused).includes("U+202E"), refused);
  for (const [kind, text] of Object.entries(hostile)) await one(kit, kind, `${text} ${RIGHT_TO_LEFT}`);
}

const short = (text, most) => [...text].slice(0, most).join("");

async function one(kit, kind, text) {
  const world = await fill(kit, kind, text);
  const asHuman = ["--kind", "human", "--gate-role", "human"];
  const { campaign } = world;
  const name = short(text, 80);
  const [gm, player] = await Promise.all([
    kit.server.personToken(name, "gm", { campaign, options: asHuman }),
    kit.server.personToken(`${name} `, "player", { campaign, participant: world.person }),
  ]);
  world.tokens = { gm: gm.token, player: player.token };
  const visitors = await Promise.all(["gm", "player"].map((role) => kit.signIn(world, role)));
  await Promise.all(visitors.map((visitor, at) => walk(kit, world, visitor, `${kind} ${at === 0 ? "gm" : "player"}`)));
}

async function fill(kit, kind, text) {
  const { server } = kit;
  const call = (operation, input) => server.call(operation, input);
  const name = short(text, 150);
  const campaign = (await call("campaign_create", { name, gm_mode: "AI", theme_prompt: text })).id;
  const person = (await call("participant_create", { campaign_id: campaign, display_name: name, role: "PLAYER" })).id;
  const actor = (await call("actor_create", { campaign_id: campaign, name, kind: "PC", controller: person, notes: `${text} ${BIDI}`, template: "daggerheart" })).id;
  const session = (await call("session_start", { campaign_id: campaign, name })).id;
  const world = { server, call, campaign, person, path: `/c/${campaign}` };
  await call("tracker", { campaign_id: campaign, method: "set", trackers: [{ name: short(text, 60), value: 1, max: 4, meaning: name, actor_id: actor }, { name: short(text, 60), value: 1, meaning: name }] });
  await call("tracker", { campaign_id: campaign, method: "change", trackers: [{ name: short(text, 60), by: 1, actor_id: actor, reason: name }] });
  await call("session_note", { campaign_id: campaign, text: `${text} ${BIDI}`, scene: name, spotlight: actor, tags: [short(text, 40)] });
  await call("roll", { session_id: session, actor_id: actor, expression: "2d6", reason: name });
  const turned = `${text} ${BIDI}`;
  const entry = [turned, ...markdown].join("\n\n");
  const entity = { entity_type: "character", name, type: short(text, 60), entry, tags: [short(text.replaceAll(",", ""), 40)], aliases: [`${short(text, 60)} too`], date: "1204-03-03" };
  const created = await call("create_entities", { campaign_id: campaign, entities: [entity, { ...entity, name: short(`Second ${text}`, 150), entry: `[[${short(text, 60)}]] ${entry}` }] });
  const [first, second] = created.results.map((result) => result.entity_id);
  await call("create_posts", { campaign_id: campaign, posts: [{ entity_id: first, name, entry }] });
  const post = (await call("get_entities", { campaign_id: campaign, entity_ids: [first], include_posts: true })).results[0].posts[0].id;
  await call("relationships", { campaign_id: campaign, method: "add", entity_id: first, target_id: second, type: "knows", description: name });
  await call("timeline", { campaign_id: campaign, method: "add", date: short(text, 80), sort: "1204-03-03", description: turned, entity_ids: [first], is_player_known: true });
  const event = (await call("timeline", { campaign_id: campaign, method: "query", include: "written" })).events[0].id;
  await call("canon", { campaign_id: campaign, method: "mark", entity_id: first, confidence: "AUTHORITATIVE" });
  await call("update_entities", { campaign_id: campaign, updates: [{ entity_id: first, entry: `changed ${entry}` }, { entity_id: second, entry: `changed ${entry}` }] });
  const universe = `hostile-${kind}-${campaign}`;
  await call("universe", { method: "create", universeId: universe, name, campaignId: campaign });
  const star = (id, more) => ({ type: "addStar", id, payload: body(name, "#F5C542", more) });
  await call("send_universe_command", { universeId: universe, command: star("sun", { radius: 6 }), commands: [star(`x${name}`, { parentId: "sun", orbitalDistance: 40, orbitalSpeed: 0.01 })] });
  const run = (await call("state_gate.create_run", { process_id: "quest", campaign_id: campaign, context: { quest: name, patron: name, stakes: text, reward: name } })).run_id;
  const emit = emitter(world, run);
  await emit("accept_quest", { payload: { terms: turned } });
  await emit("submit_clue", { payload: { summary: turned, source: "magic", found_by: name }, artifacts: [{ path: "clue-1.md", text: entry }] });
  const titled = (await call("state_gate.create_run", { process_id: `hostile-${kind}`, campaign_id: campaign })).run_id;
  await emitter(world, titled)("go_on", { payload: { word: turned } });
  return Object.assign(world, { titled, first, second, post, event, universe, run });
}

function addresses({ path, first, post, event, universe, run, titled }) {
  const everybody = [
    "/", path, `${path}/sessions`, `${path}/sessions/1`, `${path}/lore`, `${path}/lore?q=${encodeURIComponent("<script>\u202e' hx-get='")}`,
    `${path}/lore/${first}`, `${path}/timeline?include=all`, `${path}/timeline/${event}`, `${path}/graph`, `${path}/sky`,
    `${path}/sky/${encodeURIComponent(universe)}?body=sun`, `/dice?e=${encodeURIComponent("<script>window.broken=1</script>")}&e2=${encodeURIComponent("' onload='broken=1")}`, "/browsers",
  ];
  const gameMasters = [
    `${path}/lore/${first}/edit`, `${path}/lore/${first}/history`, `${path}/lore/${first}/history/2`, `${path}/lore/${first}/posts/${post}`,
    `${path}/canon`, `${path}/runs`, `${path}/runs/${run}`, `${path}/runs/${titled}`, `${path}/runs/${run}/evidence?path=clue-1.md`, `${path}/view-as`, `${path}/kanka`,
  ];
  return { everybody, gameMasters };
}

async function walk(kit, world, visitor, who) {
  const { everybody, gameMasters } = addresses(world);
  const isGameMaster = who.endsWith("gm");
  visitor.context.setDefaultTimeout(10_000);
  for (const path of isGameMaster ? [...everybody, ...gameMasters] : everybody) {
    const response = await visitor.goto(path);
    kit.same(`${who} ${path} is there`, response.status(), 200);
    kit.same(`${who} ${path} is harmless`, await visitor.page.evaluate(findHarm), []);
  }
  await visitor.goto(world.path);
  const shown = await visitor.page.getByRole("main").innerText();
  kit.check(`${who} it is shown as it was written`, shown.includes(short(hostile[who.split(" ")[0]], 40)), shown.slice(0, 300));
  if (isGameMaster) {
    await visitor.goto(`${world.path}/canon`);
    await visitor.page.getByRole("main").getByRole("heading", { level: 2 }).getByRole("link").first().click();
    await visitor.page.waitForLoadState("load");
    kit.same(`${who} a held change is harmless`, await visitor.page.evaluate(findHarm), []);
  }
}

// Runs in the page: whatever of the texts became an element, an attribute, an address, or turns its neighbours around.
export function findHarm() {
  const harm = [];
  if (window.broken) harm.push("a script ran");
  const banned = ["iframe", "object", "embed", "base", "foreignobject", "math", "hx-partial", "meta[http-equiv]"];
  for (const element of document.querySelectorAll(banned.join(","))) harm.push(`<${element.localName}>`);
  const isOurs = (value) => {
    try {
      const url = new URL(value, location.href);
      return url.origin === location.origin || (url.protocol === "data:" && value.startsWith("data:image/"));
    } catch { return false; }
  };
  for (const element of document.querySelectorAll("*")) {
    const tag = element.localName;
    if (tag === "script" && !element.getAttribute("src")?.startsWith("/assets/")) harm.push("<script> of somebody");
    if (tag === "style" && !element.closest("svg")) harm.push("<style>");
    for (const { name, value } of element.attributes) {
      const where = `<${tag} ${name}="${value.slice(0, 80)}">`;
      if (name.startsWith("on") || ["style", "srcdoc", "formaction", "ping"].includes(name)) harm.push(where);
      if (/^(data-)?hx-/.test(name) && /planted|broken/.test(value)) harm.push(where);
      const isAddress = ["href", "src", "action", "xlink:href", "data", "poster"].includes(name);
      // A link that somebody wrote may lead elsewhere, but not run anything; a page that it leads to knows nothing of ours.
      const isLink = tag === "a" && /^https?:/.test(value) && /noopener|noreferrer|nofollow/.test(element.rel);
      if (isAddress && !isOurs(value) && !isLink) harm.push(where);
    }
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.includes("\u202e") || parent.closest("script, style, title, textarea, option, svg, .visually-hidden")) continue;
    let around = parent;
    while (around && !/isolate|plaintext/.test(getComputedStyle(around).unicodeBidi) && !["block", "flex", "grid", "list-item", "table-cell"].includes(getComputedStyle(around).display)) around = around.parentElement;
    // What follows in the same line has to stay outside of the part that is kept apart.
    const line = around?.textContent ?? "";
    const own = node.data.trim();
    if (line.trim() !== own && !/isolate|plaintext/.test(getComputedStyle(around).unicodeBidi)) harm.push(`turned around: <${parent.localName} class="${parent.className}"> in ${line.slice(0, 60)}`);
  }
  return [...new Set(harm)];
}
