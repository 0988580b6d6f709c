// Uses the keyboard alone: sign in, find the table, roll, change a tracker, search, read, edit, sign out. At each stop the
// element with the focus has to look focused.

import { addLore } from "../world.mjs";

const STOPS_MAX = 90;

export async function checkPart(kit) {
  const table = await addLore(await kit.table("Keys"));
  const visitor = await kit.open("keyboard");
  const { page } = visitor;
  const keys = page.keyboard;
  const unseen = new Set();

  // Presses Tab until the element with the focus has this name.
  async function tabTo(name) {
    for (let stop = 0; stop < STOPS_MAX; stop += 1) {
      await keys.press("Tab");
      const found = await page.evaluate(describeFocus);
      if (!found.isSeen) unseen.add(found.name || found.html);
      if (name.test(found.name)) return true;
    }
    return kit.check(`Tab leads to ${name}`, false, page.url());
  }

  visitor.expect(401, "/");
  await visitor.goto("/");
  await keys.press("Tab");
  kit.same("the first stop skips to the content", (await page.evaluate(describeFocus)).name, "Skip to the content");
  await keys.press("Enter");
  await tabTo(/^Token/);
  await keys.type(table.tokens.gm);
  await keys.press("Enter");
  await page.getByRole("heading", { name: table.name }).waitFor();
  await tabTo(new RegExp(`^${table.name}$`));
  await keys.press("Enter");
  const log = page.getByRole("region", { name: "Log" });
  await log.waitFor();
  await tabTo(/^Mira: Hope up$|^\+ ?Mira: Hope up$/);
  await keys.press("Enter");
  await kit.waits("a tracker", () => log.getByText("Hope").first().waitFor());
  await tabTo(/^Why$/);
  await keys.type("By keyboard");
  await keys.press("Enter");
  await kit.waits("a roll", () => log.getByText("By keyboard").waitFor());
  await tabTo(/^Note$/);
  await keys.type("Noted by keyboard");
  await tabTo(/^Note it$/);
  await keys.press("Space");
  await kit.waits("a note", () => log.getByText("Noted by keyboard").waitFor());

  await keys.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await keys.type("dunm");
  await page.getByRole("dialog").getByRole("link").first().filter({ hasText: "Dunmere" }).waitFor();
  await keys.press("ArrowDown");
  await keys.press("Enter");
  await kit.waits("a search", () => page.getByRole("heading", { level: 1, name: "Dunmere" }).waitFor());
  await tabTo(/^Edit$/);
  await keys.press("Enter");
  const text = page.getByLabel("Text", { exact: true });
  await text.waitFor();
  await tabTo(/^Kind$/);
  await keys.press("End");
  await keys.type(" of the bell");
  await tabTo(/^Save$/);
  await keys.press("Enter");
  await kit.waits("an edit", () => page.getByText("Town of the bell").waitFor());
  await tabTo(/^Ada$/);
  await keys.press("Enter");
  await tabTo(/^Sign out$/);
  await keys.press("Enter");
  await page.waitForURL(`${visitor.base}/sign-in`);
  kit.same("whatever has the focus can be seen", [...unseen], []);
}

// Runs in the page: what has the focus, how it is called, and whether it looks different for it.
function describeFocus() {
  const element = document.activeElement;
  const words = (one) => one?.textContent.replace(/\s+/g, " ").trim();
  const name = element.getAttribute("aria-label") ?? words(element.labels?.[0]) ?? words(element);
  const look = (one) => {
    const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor, textDecorationLine } = getComputedStyle(one);
    return JSON.stringify([outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor, textDecorationLine]);
  };
  const focused = look(element);
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const hasOutline = outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
  const box = element.getBoundingClientRect();
  const isThere = element === document.body || (box.width > 0 && box.height > 0);
  return { name, html: element.outerHTML.slice(0, 120), isSeen: element === document.body || (isThere && hasOutline) || (isThere && /rgb/.test(JSON.parse(focused)[2])) };
}
