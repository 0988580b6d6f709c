// The inbox of the Kanka mirror: what both sides changed is shown as text, and a person keeps ours or takes theirs.

import { sideways, sizes, textOf, waitForValue } from "../harness.mjs";
import { hostile, markdown } from "../hostile_texts.mjs";
import { MirrorPair } from "../mirror.mjs";
import { findHarm } from "./hostile.mjs";

const main = (page) => page.getByRole("main");
const THEIRS = `${hostile.script} ${hostile.htmx} ${markdown[0]}`;

export async function checkPart(kit) {
  const pair = await MirrorPair.start(kit.server.skald);
  try {
    await decide(kit, pair);
  } finally {
    await pair.stop();
  }
}

async function decide(kit, pair) {
  await pair.createConflicts(["The inn", "The mill"], {
    ours: () => ({ entry: `Written here. ${hostile.svg}` }),
    theirs: (at) => ({ entry: THEIRS, name: `${hostile.script.slice(0, 60)} ${at}` }),
  });
  const { here, there, campaign, ids: [inn, mill] } = pair;
  const { token } = await here.personToken("Ada", "gm", { campaign, options: ["--kind", "human", "--gate-role", "human"] });
  const gm = await kit.open("gm", { base: here.base });
  const { page } = gm;
  const path = `/c/${campaign}/kanka`;
  await gm.signIn(token, path);
  await page.getByRole("button", { name: "Sync now" }).click();
  const cards = main(page).locator("section.card").filter({ has: page.getByRole("button", { name: "Keep ours" }) });
  await kit.waits("what both sides changed waits", () => cards.nth(1).waitFor());
  const shown = await textOf(main(page));
  const both = ["Written here.", "Both sides changed", hostile.svg.slice(0, 30), "window.broken=1"];
  kit.same("both texts are shown", both.filter((text) => !shown.includes(text)), []);
  await checkLook(kit, gm, "conflicts");

  const entryOf = async (server, campaign_id, entity_id) => (await server.call("get_entities", { campaign_id, entity_ids: [entity_id] })).results[0].entry;
  const cardOf = (entity_id) => cards.filter({ has: page.locator(`a[href="/c/${campaign}/lore/${entity_id}"]`) });
  await cardOf(inn).getByRole("link", { name: "Whole texts" }).click();
  await kit.waits("one conflict can be shown alone", () => cardOf(mill).waitFor({ state: "detached" }));
  await cardOf(inn).getByRole("button", { name: "Keep ours" }).click();
  await kit.waits("a decided conflict leaves the inbox", () => cardOf(inn).waitFor({ state: "detached" }));
  kit.check("ours stays here", (await entryOf(here, campaign, inn)).includes("Written here."));
  const isSent = async () => (await entryOf(there, pair.remoteCampaign, pair.remoteIds[0])).includes("Written here.");
  await kit.waits("and is sent there", () => waitForValue(isSent, true));
  await cardOf(mill).getByRole("button", { name: "Take theirs" }).click();
  await kit.waits("with the last one the inbox is empty", () => page.getByText("Nothing to decide").waitFor());
  const taken = await entryOf(here, campaign, mill);
  kit.check("theirs is here", taken.includes("window.broken=1") && !taken.includes("Written here."), taken);
  await checkLook(kit, gm, "an empty inbox");
  await gm.goto(`/c/${campaign}/lore/${mill}`);
  kit.same("what was taken is harmless", await page.evaluate(findHarm), []);
}

async function checkLook(kit, gm, what) {
  const { page } = gm;
  kit.same(`${what} are harmless`, await page.evaluate(findHarm), []);
  for (const size of [sizes.phone, sizes.wide]) {
    await page.setViewportSize(size);
    const wide = await sideways(page);
    kit.check(`no scrolling to the side: ${what} ${size.width}`, wide <= 0, wide);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await gm.checkAxe(`${what} ${size.width} ${colorScheme}`);
    }
  }
}
