// The sky: pan, zoom, choosing by a click and by arrow keys, the slider and play, which change nothing; and its forms.

import { textOf, unfold } from "../harness.mjs";
import { addSky, body } from "../world.mjs";

export async function checkPart(kit) {
  const table = await addSky(await kit.table("Above"));
  const [gm, player] = [await kit.signIn(table, "gm", { path: table.skyPath }), await kit.signIn(table, "player", { path: table.skyPath })];
  const state = async () => JSON.stringify(await table.call("get_universe_state", { universeId: table.universe }));
  const before = await state();
  await look(kit, player);
  await choose(kit, player);
  await time(kit, player);
  kit.same("looking changes nothing", await state(), before);
  await live(kit, table, player);
  await forms(kit, table, gm, player);
  await refused(kit, await addSky(await kit.table("Below")));
  await answersOutOfOrder(kit, table, player);
  kit.same("a player has no forms", await player.page.getByRole("button", { name: /^(Add|Save|Let it pass|Remove)/ }).count(), 0);
}

const map = (page) => page.getByRole("group", { name: "Map of the sky" });
const viewBox = (page) => map(page).locator("svg").first().getAttribute("viewBox");
const chosen = (page) => page.locator("[aria-current=true]");

async function look(kit, { page }) {
  await page.getByRole("button", { name: "Zoom in" }).click();
  const near = await viewBox(page);
  await page.getByRole("button", { name: "Zoom in" }).click();
  const nearer = await viewBox(page);
  const width = (box) => Number(box.split(" ")[2]);
  kit.check("zoom comes closer", width(nearer) < width(near), [near, nearer]);
  const frame = await map(page).boundingBox();
  const [x, y] = [frame.x + frame.width / 2, frame.y + frame.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 60, y - 25, { steps: 4 });
  await page.mouse.up();
  const moved = await viewBox(page);
  kit.check("dragging moves the map and keeps its size", moved !== nearer && Math.abs(width(moved) - width(nearer)) < 0.01, [nearer, moved]);
  await page.getByRole("button", { name: "Whole sky" }).click();
  const whole = await viewBox(page);
  kit.check("and back to all of it", width(whole) > width(near), [near, whole]);
  await map(page).focus();
  await page.keyboard.press("+");
  kit.check("keys zoom too", width(await viewBox(page)) < width(whole));
  await page.keyboard.press("0");
}

async function choose(kit, { page }) {
  const target = await map(page).locator("g[data-name='The bell'], g[data-name=' The bell']").first().boundingBox();
  await page.mouse.click(target.x + target.width / 2, target.y + target.height / 2);
  await kit.waits("a click chooses a body", () => page.getByRole("heading", { level: 2, name: "The bell" }).waitFor());
  await kit.waits("which is marked in the list", () => chosen(page).filter({ hasText: "The bell" }).waitFor());
  kit.check("the address says which", page.url().includes("body=bell"), page.url());
  await page.reload();
  await kit.waits("also after a reload", () => page.getByRole("heading", { level: 2, name: "The bell" }).waitFor());
  await map(page).focus();
  let name = "The bell";
  for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(350);
    name = await textOf(chosen(page).first());
    if (!name.includes("The bell")) break;
  }
  kit.check("arrow keys choose another", !name.includes("The bell"), name);
  await page.getByRole("link", { name: /^Home/ }).first().click();
  await kit.waits("a name in the list chooses", () => page.getByRole("heading", { level: 2, name: "Home" }).waitFor());
}

async function time(kit, visitor) {
  const { page } = visitor;
  const slider = page.getByRole("slider", { name: /Moment/ });
  const place = () => map(page).locator("g[data-name*='Home']").first().getAttribute("data-x");
  const before = await place();
  await slider.focus();
  await slider.evaluate((input) => { input.value = String(Number(input.value) + 30); input.dispatchEvent(new Event("input", { bubbles: true })); });
  await kit.waits("the slider shows another moment", () => page.getByText(/Looking changes nothing/).waitFor());
  await page.waitForFunction((x) => document.querySelector("g[data-name*='Home']")?.dataset.x !== x, before);
  kit.check("in which bodies are elsewhere", (await place()) !== before, [before, await place()]);
  await kit.waits("and the address says when", () => page.waitForURL(/[?&]t=/));
  const still = await place();
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForFunction((x) => document.querySelector("g[data-name*='Home']")?.dataset.x !== x, still);
  kit.check("play moves them", true);
  await page.getByRole("button", { name: "Pause" }).click();
  await visitor.checkAxe("a sky at another moment");
}

async function live(kit, table, player) {
  await player.goto(table.skyPath);
  const late = { type: "addStar", id: "late", payload: body("The late one", "#B13E53", { parentId: "sun", orbitalDistance: 140, orbitalSpeed: 0.01, radius: 2 }) };
  await table.call("send_universe_command", { universeId: table.universe, command: late });
  await kit.waits("a new body appears in an open sky", () => player.page.getByRole("link", { name: /The late one/ }).waitFor());
  await kit.waits("also on its map", () => player.page.locator("g[data-name*='The late one']").first().waitFor({ state: "attached" }));
}

async function forms(kit, table, gm, player) {
  const { page } = gm;
  await gm.goto(table.skyPath);
  const add = await unfold(page.getByRole("main"), "Add a body");
  await add.getByLabel("Name").fill("The drowned moon");
  await add.getByLabel("Kind").selectOption({ label: "moon" });
  await add.getByLabel("Moves around").selectOption({ label: "Home" });
  await add.getByLabel("Distance").fill("5");
  await add.getByLabel("Days of one turn").fill("9");
  await add.getByRole("button", { name: "Add" }).click();
  await kit.waits("a body is added with a form", () => page.getByRole("heading", { level: 2, name: "The drowned moon" }).waitFor());
  await kit.waits("and is on the other screen", () => player.page.getByRole("link", { name: /The drowned moon/ }).waitFor());
  const change = await unfold(page.getByRole("main"), "Change it");
  await change.getByLabel("Name").fill("The risen moon");
  await gm.checkAxe("the forms of a body");
  await change.getByRole("button", { name: "Save" }).click();
  await kit.waits("changed", () => page.getByRole("heading", { level: 2, name: "The risen moon" }).waitFor());
  const pass = await unfold(page.getByRole("main"), "Let time pass");
  await pass.getByLabel("Days").fill("12");
  await pass.getByRole("button", { name: "Let it pass" }).click();
  await kit.waits("time passes for everybody", () => page.getByText(/Now, day 12\b/).waitFor());
  for (const visitor of [gm, player]) {
    // Their scripts may ask for the body that is about to go.
    visitor.allow(404, table.skyPath);
    await visitor.goto(`${table.skyPath}?body=late`);
  }
  const remove = await unfold(page.getByRole("main"), "Remove it");
  await remove.getByRole("button", { name: /^Remove/ }).click();
  await kit.waits("and a body goes, also where it was chosen", () => player.page.getByRole("link", { name: /The late one/ }).waitFor({ state: "detached" }));
  await gm.goto(`${table.path}/sky`);
  await page.getByLabel("Name").fill("Another sky");
  await page.getByRole("button", { name: "Make it" }).click();
  await kit.waits("an empty sky says what to do", () => page.getByRole("paragraph").filter({ hasText: "An empty sky" }).waitFor());
  await gm.checkAxe("an empty sky");
}

// What is typed stays, whatever others change: in a form that the server has refused, and in one that is not sent yet.
async function refused(kit, table) {
  const gm = await kit.signIn(table, "gm", { path: table.skyPath });
  const { page } = gm;
  const bodies = page.locator("#sky-bodies");
  const form = () => page.locator("details").filter({ has: page.locator("summary", { hasText: "Add a body" }) }).last();
  const typed = async () => [await form().getByLabel("Name").inputValue(), await form().getByLabel("Kind").inputValue(), await form().getByLabel("Moves around").inputValue(), await form().getByLabel("Distance").inputValue()];
  const addStar = (id, name) => table.call("send_universe_command", { universeId: table.universe, command: { type: "addStar", id, payload: body(name, "#B13E53", { parentId: "sun", orbitalDistance: 150, radius: 1 }) } });
  await unfold(page.getByRole("main"), "Add a body");
  await form().getByLabel("Name").fill("Home");
  await form().getByLabel("Kind").selectOption("moon");
  await form().getByLabel("Moves around").selectOption("bell");
  await form().getByLabel("Distance").fill("7");
  for (const status of [400, 409, 422]) gm.allow(status, `${table.skyPath}/command`);
  const live = page.waitForResponse((response) => response.url() === gm.base + table.skyPath && response.request().method() === "GET");
  await form().getByRole("button", { name: "Add" }).click();
  await kit.waits("a refused form is explained", () => page.getByRole("alert").first().waitFor());
  await kit.waits("at its field", () => form().locator("[aria-invalid=true]").waitFor());
  await live;
  await addStar("late", "The late one");
  await kit.waits("a change of somebody else arrives meanwhile", () => bodies.getByText("The late one").waitFor());
  kit.same("what was typed in a refused form stays", await typed(), ["Home", "moon", "bell", "7"]);
  await gm.checkAxe("a refused form of a sky");
  await form().getByLabel("Name").fill("Another home");
  await form().getByRole("button", { name: "Add" }).click();
  await kit.waits("it can be sent once it is right", () => page.getByRole("heading", { level: 2, name: "Another home" }).waitFor());

  await unfold(page.getByRole("main"), "Add a body");
  await form().getByLabel("Kind").selectOption("comet");
  await page.getByRole("heading", { level: 1 }).click();
  await addStar("later", "The later one");
  await kit.waits("a change arrives while a list is changed", () => bodies.getByText("The later one").waitFor());
  kit.same("what was chosen stays", await form().getByLabel("Kind").inputValue(), "comet");
  kit.same("and the list is as it was", await form().getByLabel("Moves around").locator("option[value=later]").count(), 0);
  await form().getByLabel("Kind").selectOption("planet");
  await form().getByLabel("Name").focus();
  await page.getByRole("heading", { level: 1 }).click();
  await kit.waits("the form is replaced once nothing is lost", () => form().locator("option[value=later]").waitFor({ state: "attached" }));
}

// The newest choice is shown, also if an older answer comes later; and a lost answer is said.
async function answersOutOfOrder(kit, table, player) {
  const { page } = player;
  const title = (name) => page.locator("#sky-body").getByRole("heading", { level: 2, name });
  const parts = (url) => url.pathname === table.skyPath && url.searchParams.get("body") === "home";
  await player.goto(table.skyPath);
  await page.route(parts, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await route.continue();
  });
  const slow = page.waitForResponse((response) => parts(new URL(response.url())));
  await page.locator("[data-body-link=home]").first().click();
  await page.waitForTimeout(400);
  await page.locator("[data-body-link=tide]").first().click();
  await kit.waits("the newest choice is shown", () => title("Tide").waitFor());
  await slow;
  await page.waitForTimeout(200);
  kit.check("an older answer does not overwrite it", await title("Tide").isVisible(), await textOf(page.locator("#sky-body")));
  await page.unroute(parts);
  player.isCut = true;
  await page.route(parts, (route) => route.abort());
  await page.locator("[data-body-link=home]").first().click();
  await kit.waits("an answer that is lost is said", () => page.getByText(/cannot be reached/).waitFor());
  await page.unroute(parts);
  await page.locator("[data-body-link=home]").first().click();
  await kit.waits("and the next one is shown", () => title("Home").waitFor());
  await kit.waits("without the message", () => page.getByText(/cannot be reached/).waitFor({ state: "hidden" }));
  player.isCut = false;
}
