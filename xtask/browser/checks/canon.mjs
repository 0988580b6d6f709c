// Changes of what is established: a person keeps it as it is, takes the change, writes a third, or opens it again.

import { textOf, unfold } from "../harness.mjs";
import { addLore, holdChange } from "../world.mjs";

export async function checkPart(kit) {
  const table = await addLore(await kit.table("Established"));
  await holdChange(table, "She sleeps very well.");
  const gm = await kit.signIn(table, "gm", { path: `${table.path}/canon` });
  const { page } = gm;
  const entry = async () => {
    const found = await table.call("get_entities", { campaign_id: table.campaign, entity_ids: [table.entities.ruane] });
    return found.results[0].entry;
  };
  const open = async () => {
    await gm.goto(`${table.path}/canon`);
    await page.getByRole("main").getByRole("heading", { level: 2 }).getByRole("link").first().click();
  };
  const decided = () => page.getByText("Decided.", { exact: true }).waitFor();

  await gm.checkAxe("changes that wait");
  await open();
  const shown = await textOf(page.getByRole("main"));
  kit.check("both texts are shown", shown.includes("has not slept since the flood") && shown.includes("She sleeps very well."), shown);
  await gm.checkAxe("a held change");
  const place = new URL(page.url()).pathname;
  await page.getByLabel("Why", { exact: true }).fill("She is haunted.");
  await page.getByRole("button", { name: "Keep it as it is" }).click();
  await kit.waits("a person keeps it as it is", decided);
  kit.check("and it is as it was", (await entry()).includes("has not slept"));
  await gm.goto(place);
  await kit.waits("the decision is kept with its reason", () => page.getByText("She is haunted.").waitFor());
  await page.getByLabel("Why", { exact: true }).fill("Another look.");
  await page.getByRole("button", { name: "Open it again" }).click();
  await kit.waits("it can be opened again", decided);
  await open();
  await page.getByRole("button", { name: "Take the change" }).click();
  const why = page.getByLabel("Why", { exact: true });
  kit.check("a decision needs a reason", await why.evaluate((field) => field.matches(":invalid")));
  await why.fill("She prayed.");
  await page.getByRole("button", { name: "Take the change" }).click();
  await kit.waits("a person takes the change", decided);
  kit.same("and it is changed", await entry(), "She sleeps very well.");

  await holdChange(table, "She sleeps at noon.");
  await open();
  const third = await unfold(page.getByRole("main"), "Neither");
  await page.getByLabel("Why", { exact: true }).fill("Both are wrong.");
  await third.getByLabel("What it shall be").fill("She sleeps on feast days.");
  await gm.checkAxe("a third text");
  await third.getByRole("button", { name: "Take this" }).click();
  await kit.waits("a person writes a third text", decided);
  kit.same("and it is that", await entry(), "She sleeps on feast days.");
  await kit.waits("nothing waits any more", () => page.getByText("Nothing waits").waitFor());
  await gm.checkAxe("an empty canon");

  const player = await kit.signIn(table, "player");
  kit.same("a player has no way there", await player.page.getByRole("link", { name: "Canon" }).count(), 0);
  player.expect(403, `${table.path}/canon`);
  kit.same("also not by its address", (await player.goto(`${table.path}/canon`)).status(), 403);
}
