// On paper: pages have all of their text and no buttons, on sheets of the usual size.

import { addLore, holdChange } from "../world.mjs";

export async function checkPart(kit) {
  const table = await addLore(await kit.table("Paper"));
  const lines = Array.from({ length: 60 }, (_, at) => `She counted ${at + 1} bells.`);
  await holdChange(table, lines.join("\n\n"));
  const gm = await kit.signIn(table, "gm");
  const { page } = gm;
  const pages = [
    [table.path, "Leaps to the statue"],
    [`${table.path}/lore/${table.entities.dunmere}`, "when the tide turns"],
    [`${table.path}/sessions/1`, "Strikes at the drowned guard"],
    ["/dice?e=1d20", "Every value"],
    [`${table.path}/canon/c1`, "She counted 60 bells."],
  ];
  for (const [path, words] of pages) {
    await gm.goto(path);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    // As wide as the paper without its margins.
    await page.setViewportSize({ width: 718, height: 1000 });
    kit.check(`paper has the text: ${path}`, await page.getByText(words).first().isVisible());
    const shown = await page.evaluate(() => [...document.querySelectorAll("button, .button, input, textarea, select, details:not([open]) > summary, nav, header.bar")]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().width > 1).map((element) => element.outerHTML.slice(0, 80)));
    kit.same(`and nothing to press: ${path}`, shown, []);
    kit.same(`and no text is cut off: ${path}`, await page.evaluate(findCutText), []);
    const look = await page.evaluate(() => {
      const luminance = (color) => color.match(/[\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3;
      const { color, backgroundColor } = getComputedStyle(document.body);
      const isClear = /, 0\)$/.test(backgroundColor) || backgroundColor === "transparent";
      return { dark: luminance(color) < 100, ground: isClear || luminance(backgroundColor) > 230, over: document.documentElement.scrollWidth - innerWidth };
    });
    kit.check(`dark letters on light paper: ${path}`, look.dark && look.ground, look);
    kit.check(`nothing beyond the edge: ${path}`, look.over <= 0, look);
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    const sheets = (pdf.match(/\/Type \/Page\b(?!s)/g) ?? []).length;
    kit.check(`a few sheets: ${path}`, pdf.startsWith("%PDF-") && sheets >= 1 && sheets <= 4, sheets);
    await page.emulateMedia({ media: "screen" });
  }
}

// Runs in the page: boxes that would scroll on a screen.
function findCutText() {
  const isCut = (element) => {
    const { overflowX, overflowY } = getComputedStyle(element);
    const isTooTall = overflowY !== "visible" && element.scrollHeight > element.clientHeight + 1;
    const isTooWide = overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1;
    return element.checkVisibility() && !element.closest(".visually-hidden") && (isTooTall || isTooWide);
  };
  return [...document.querySelectorAll("main *")].filter(isCut).map((element) => element.outerHTML.slice(0, 80));
}
