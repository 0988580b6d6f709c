// The graph to drag and to open, the timeline with its filters and forms, and the odds as one types.

import { textOf } from "../harness.mjs";
import { addLore } from "../world.mjs";

export async function checkPart(kit) {
  const table = await addLore(await kit.table("Told"));
  const gm = await kit.signIn(table, "gm", { path: `${table.path}/graph` });
  await graph(kit, gm);
  await timeline(kit, table, gm);
  await dice(kit, await kit.signIn(table, "player", { path: "/dice" }));
}

async function graph(kit, gm) {
  const { page } = gm;
  const drawing = page.getByRole("group", { name: "Entries and what connects them" });
  const node = drawing.getByRole("link", { name: "Dunmere" });
  await node.waitFor();
  kit.check("relationships are named", (await drawing.locator("text", { hasText: "leads" }).count()) === 1);
  const place = () => node.getAttribute("transform");
  const before = await place();
  const circle = await node.locator("circle").boundingBox();
  const [x, y] = [circle.x + circle.width / 2, circle.y + circle.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 80, y + 40, { steps: 5 });
  await page.mouse.up();
  await page.waitForTimeout(100);
  kit.check("a name is dragged", (await place()) !== before, [before, await place()]);
  kit.check("and a drag opens nothing", page.url().endsWith("/graph"), page.url());
  const width = async () => Number((await drawing.getAttribute("viewBox")).split(" ")[2]);
  const far = await width();
  await page.getByRole("button", { name: "Closer" }).click();
  kit.check("zoom comes closer", (await width()) < far);
  await page.getByRole("button", { name: "All of it" }).click();
  await page.waitForTimeout(2_500);
  await node.focus();
  await page.keyboard.press("Enter");
  await kit.waits("a name opens its entry", () => page.getByRole("heading", { level: 1, name: "Dunmere" }).waitFor());
  await gm.page.goBack();
  await node.waitFor();
  await page.waitForTimeout(200);
  const again = await node.locator("circle").boundingBox();
  await page.mouse.click(again.x + again.width / 2, again.y + again.height / 2);
  await kit.waits("also by a click", () => page.getByRole("heading", { level: 1, name: "Dunmere" }).waitFor());
}

async function timeline(kit, table, gm) {
  const { page } = gm;
  const main = page.getByRole("main");
  const filter = page.getByRole("button", { name: "Filter" });
  const sea = main.getByText("The sea came over the square.");
  const abbess = main.getByText("The Listeners chose another abbess.");
  await gm.goto(`${table.path}/timeline`);
  const story = await textOf(main);
  kit.check("days come in their order", story.indexOf("chose another abbess") < story.indexOf("The sea came"), story);
  await page.getByLabel("About").first().fill("Dunmere");
  await filter.click();
  await kit.waits("a timeline of one entry", () => sea.waitFor());
  kit.same("has nothing else", await abbess.count(), 0);
  await gm.goto(`${table.path}/timeline`);
  await page.getByLabel("Until").fill("1203");
  await filter.click();
  await kit.waits("a timeline up to a date", () => abbess.waitFor());
  kit.same("has nothing after it", await sea.count(), 0);
  await gm.goto(`${table.path}/timeline`);
  await page.getByLabel("Show").selectOption({ label: "Everything" });
  await filter.click();
  await kit.waits("with everything that was recorded", () => main.getByText(/Leaps to the statue/).first().waitFor());
  await gm.checkAxe("everything");
  await gm.goto(`${table.path}/timeline`);
  await page.getByLabel("From").fill("soon");
  await filter.click();
  await kit.waits("a date that is none is explained", () => page.getByRole("alert").first().waitFor());
  await gm.checkAxe("a date that is none");

  await gm.goto(`${table.path}/timeline`);
  const form = page.locator("form").filter({ has: page.getByRole("button", { name: "Add", exact: true }) });
  await form.getByLabel("What happened").fill("The bell was raised.");
  await form.getByLabel("When, as the table says it").fill("5th of Rain, 1204");
  await form.getByLabel("When, to sort by").fill("1204-03-05");
  await form.getByLabel("About").fill("Dunmere");
  await form.getByRole("button", { name: "Add", exact: true }).click();
  await kit.waits("an event is written", () => main.getByText("The bell was raised.").waitFor());
  await main.getByRole("listitem").filter({ hasText: "The bell was raised." }).getByRole("link", { name: "Edit" }).click();
  await gm.checkAxe("an event");
  await page.getByLabel("What happened").fill("The bell was raised, and rang.");
  await page.getByRole("button", { name: "Save" }).click();
  await kit.waits("and changed", () => main.getByText("and rang").waitFor());
  await main.getByRole("listitem").filter({ hasText: "and rang" }).getByRole("link", { name: "Edit" }).click();
  await page.getByRole("button", { name: "Remove it" }).click();
  await kit.waits("and removed", () => page.getByText("Removed.").waitFor());
}

async function dice(kit, player) {
  const { page } = player;
  const main = page.getByRole("main");
  await kit.waits("odds begin with examples", () => main.getByRole("link", { name: "4d6kh3" }).waitFor());
  await page.getByLabel("Dice", { exact: true }).pressSequentially("2d6+3", { delay: 30 });
  await kit.waits("the odds follow the typing", () => main.getByRole("img", { name: /The odds of 2d6\+3/ }).waitFor());
  await page.getByLabel("Compared with").pressSequentially("1d12", { delay: 30 });
  await kit.waits("two expressions are compared", () => main.getByText("first is higher").waitFor());
  await page.getByRole("radio", { name: "at least" }).check();
  await kit.waits("the address reproduces it", () => page.waitForURL(/mode=at_least/));
  const shown = await textOf(main);
  await page.reload();
  kit.same("also after a reload", (await textOf(main)).match(/\d+ ?%/g), shown.match(/\d+ ?%/g));
  const picture = main.getByRole("img");
  await kit.waits("with its picture", () => picture.first().evaluate((image) => image.decode()));
  await page.getByLabel("Dice", { exact: true }).fill("2dd6");
  await kit.waits("what is no dice is explained", () => page.getByRole("alert").first().waitFor());
  await player.goto("/dice?e=duality(%2B2%2C%20dc%2014)");
  await kit.waits("the odds of Hope and Fear", () => main.getByText(/Hope/).first().waitFor());
}
