// The connection is cut, and the server is killed and restarted: the page says so, keeps what was typed, and misses no event.

import { Proxy } from "../proxy.mjs";
import { Server } from "../server.mjs";
import { addLore } from "../world.mjs";
import { Kit } from "../kit.mjs";

export async function checkPart(kit) {
  // A server of its own, since it is restarted.
  const server = await Server.start(kit.server.skald);
  const own = new Kit({ name: "connection", browser: kit.browser, server, owned: kit.owned });
  own.outcome.failed = kit.outcome.failed;
  const proxy = await Proxy.start(server);
  try {
    await cutAtTheTable(own, proxy);
    await cutWhileReading(own, proxy);
  } finally {
    await own.close();
    kit.outcome.passed += own.outcome.passed;
    proxy.close();
    await server.stop();
  }
}

const bar = (page) => page.getByText(/not connected/i).first();
const log = (page) => page.getByRole("region", { name: "Log" });

async function cutAtTheTable(kit, proxy) {
  const table = await kit.table("Lost and found");
  const player = await kit.signIn(table, "player", { base: proxy.base });
  const { page } = player;
  const note = page.getByLabel("Note", { exact: true });
  const write = (text) => table.call("session_note", { campaign_id: table.campaign, text });
  await write("before the cut");
  await kit.waits("the stream is open", () => log(page).getByText("before the cut").waitFor());
  await note.fill("half a sentence");

  player.isCut = true;
  proxy.cut();
  await kit.waits("a lost connection says so", () => bar(page).waitFor({ timeout: 8_000 }));
  const missed = ["first while away", "second while away", "third while away"];
  for (const text of missed) await write(text);
  await note.fill("half a sentence, and the other half");
  await page.getByRole("button", { name: "Note it" }).click();
  await page.waitForTimeout(300);
  kit.same("what cannot be sent is kept", await note.inputValue(), "half a sentence, and the other half");
  await proxy.mend();
  await kit.waits("the bar goes when it is back", () => bar(page).waitFor({ state: "hidden" }));
  player.isCut = false;
  for (const text of missed) await kit.waits(`nothing is missed: ${text}`, () => log(page).getByText(text).waitFor());
  kit.same("what was typed is kept", await note.inputValue(), "half a sentence, and the other half");
  await write("after the cut");
  await kit.waits("and it is live again", () => log(page).getByText("after the cut").waitFor());

  // The browser may keep a page that is left, and show it again as it was. Its stream has ended meanwhile.
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true })));
  await write("while the page was away");
  await page.waitForTimeout(500);
  kit.same("a page that is away has no stream", await log(page).getByText("while the page was away").count(), 0);
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })));
  await kit.waits("one that comes back misses nothing", () => log(page).getByText("while the page was away").waitFor());

  player.isCut = true;
  await kit.server.stop("SIGKILL");
  await kit.waits("a server that is gone is a lost connection", () => bar(page).waitFor({ timeout: 8_000 }));
  await kit.server.serve();
  await write("written before anybody was back");
  await kit.waits("a restarted server is found", () => bar(page).waitFor({ state: "hidden", timeout: 40_000 }));
  player.isCut = false;
  await kit.waits("and nothing is missed", () => log(page).getByText("written before anybody was back").waitFor());
  await page.getByRole("button", { name: "Note it" }).click();
  await kit.waits("what was typed can be sent", () => log(page).getByText("and the other half").waitFor());
}

// Pages that say what changed only: an entry, and an editor with text in it.
async function cutWhileReading(kit, proxy) {
  const table = await addLore(await kit.table("Reading"));
  const { dunmere, listeners } = table.entities;
  const [reader, writer] = [await kit.signIn(table, "player", { base: proxy.base }), await kit.signIn(table, "gm", { base: proxy.base })];
  await reader.goto(`${table.path}/lore/${dunmere}`);
  await writer.goto(`${table.path}/lore/${listeners}/edit`);
  const text = writer.page.getByLabel("Text", { exact: true });
  await text.fill("What I was about to save.");
  for (const visitor of kit.visitors) visitor.isCut = true;
  proxy.cut();
  const updates = [{ entity_id: dunmere, entry: "The square is dry." }, { entity_id: listeners, entry: "Saved by somebody else." }];
  await table.call("update_entities", { campaign_id: table.campaign, updates });
  await reader.page.waitForTimeout(500);
  await proxy.mend();
  await kit.waits("an entry that changed meanwhile is shown", () => reader.page.getByText("The square is dry.").waitFor({ timeout: 40_000 }));
  await kit.waits("an editor says that somebody else saved", () => writer.page.getByText(/somebody else/i).first().waitFor({ timeout: 40_000 }));
  kit.same("and keeps what was typed", await text.inputValue(), "What I was about to save.");
  for (const visitor of kit.visitors) visitor.isCut = false;
}
