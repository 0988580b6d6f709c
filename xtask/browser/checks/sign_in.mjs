// Signing in, a wrong token, a wrong invitation, the list of browsers, signing out, and a token that asks too often.

import { sizes, textOf } from "../harness.mjs";

export async function checkPart(kit) {
  const table = await kit.table("Doors");
  await refused(kit, table);
  await browsers(kit, table);
  await ended(kit, table);
  await tooFast(kit, table);
}

async function refused(kit, table) {
  const nobody = await kit.open("nobody");
  const { page } = nobody;
  const alert = page.getByRole("alert").first();
  nobody.expect(401, table.path);
  kit.same("whoever is unknown gets the sign-in", (await nobody.goto(table.path)).status(), 401);
  kit.check("and no word of the campaign", !(await page.content()).includes("Doors"));
  for (const [name, path] of [["sign-in", "/sign-in"], ["invitation", "/join"], ["a link of an invitation", "/join/skaldinvite_nothing"]]) {
    await nobody.goto(path);
    for (const size of [sizes.phone, sizes.wide]) {
      for (const colorScheme of ["light", "dark"]) {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await nobody.checkAxe(`${name} ${size.width} ${colorScheme}`);
      }
    }
  }
  nobody.expect(401, "/sign-in");
  await nobody.goto("/sign-in");
  await page.getByLabel("Token").fill("skald_no_token");
  await page.getByRole("button", { name: "Sign in" }).click();
  await kit.waits("a wrong token is explained", () => alert.waitFor());
  await nobody.checkAxe("a wrong token");
  await nobody.goto("/join/skaldinvite_nothing");
  const joined = page.waitForResponse((response) => response.request().method() === "POST");
  for (const status of [400, 401, 404, 422]) nobody.allow(status, "/join");
  await page.getByRole("button", { name: "Join" }).click();
  kit.check("an unknown invitation is refused", (await joined).status() >= 400);
  await kit.waits("and explained", () => alert.waitFor());
  // Colours can be chosen by whoever is not signed in.
  await page.getByRole("button", { name: /colours/i }).click();
}

async function browsers(kit, table) {
  const [laptop, phone] = [await kit.signIn(table, "player"), await kit.signIn(table, "player")];
  const { page } = laptop;
  await page.locator("summary").filter({ hasText: "Ben" }).click();
  await page.getByRole("link", { name: "Browsers" }).click();
  const rows = page.getByRole("main").getByRole("listitem");
  await rows.nth(1).waitFor();
  kit.same("both browsers are listed", await rows.count(), 2);
  await laptop.checkAxe("browsers");
  const other = rows.filter({ hasNotText: "this browser" });
  await other.getByRole("button", { name: "Sign out" }).click();
  await kit.waits("one of them is left", () => rows.nth(1).waitFor({ state: "detached" }));
  // Its stream ends as well, and what it opens next is the sign-in.
  phone.allow(401, table.path);
  kit.same("an ended browser is at the sign-in", (await phone.goto(`${table.path}/sessions`)).status(), 401);
  await page.locator("summary").filter({ hasText: "Ben" }).click();
  await page.getByRole("button", { name: "Sign out" }).last().click();
  await page.waitForURL(`${laptop.base}/sign-in`);
  laptop.expect(401, table.path);
  kit.same("signed out", (await laptop.goto(table.path)).status(), 401);
}

// A session that ends while its pages are open: the sign-in page is not put into a part of them, nothing typed is lost, and
// signing in leads back to the page.
async function ended(kit, table) {
  const { page: otherPage, ...other } = await kit.signIn(table, "player", { path: "/browsers" });
  const [writer, reader] = [await kit.signIn(table, "player"), await kit.signIn(table, "player", { path: `${table.path}/lore` })];
  for (const visitor of [writer, reader]) {
    for (const beginning of [table.path, "/sign-in"]) visitor.allow(401, beginning);
  }
  const note = writer.page.getByLabel("Note", { exact: true });
  await note.fill("Written before the session ended");
  await otherPage.goto(`${other.base}/browsers`);
  const rows = otherPage.getByRole("main").getByRole("listitem");
  for (let left = await rows.count(); left > 1; left -= 1) {
    await rows.filter({ hasNotText: "this browser" }).first().getByRole("button", { name: "Sign out" }).click();
    await rows.nth(left - 1).waitFor({ state: "detached" });
  }

  await reader.page.keyboard.press("/");
  await kit.waits("a search without a session leads to the sign-in", () => reader.page.getByLabel("Token").waitFor());
  kit.same("which leads back to the page", new URL(reader.page.url()).search, `?next=${encodeURIComponent(`${table.path}/lore`)}`);

  await writer.page.getByRole("button", { name: "Note it" }).click();
  const link = writer.page.getByRole("link", { name: "Sign in", exact: true });
  await kit.waits("a form without a session says so", () => link.first().waitFor());
  kit.same("without leaving the page", new URL(writer.page.url()).pathname, table.path);
  kit.same("the sign-in is not put into it", await writer.page.getByLabel("Token").count(), 0);
  kit.same("and what was typed is there", await note.inputValue(), "Written before the session ended");
  const [tab] = await Promise.all([writer.context.waitForEvent("page"), link.first().click()]);
  await tab.getByLabel("Token").fill(table.tokens.player);
  await tab.getByRole("button", { name: "Sign in" }).click();
  await tab.waitForURL(`${writer.base}${table.path}`);
  await tab.close();
  // A headless browser does not tell a page that it is seen again.
  await writer.page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await kit.waits("the page is live again after it", () => writer.page.getByText(/signed out/).first().waitFor({ state: "hidden" }));
  await writer.page.getByRole("button", { name: "Note it" }).click();
  const log = writer.page.getByRole("region", { name: "Log" });
  await kit.waits("and sends what was typed", () => log.getByText("Written before the session ended").waitFor());
}

async function tooFast(kit, table) {
  const { campaign } = table;
  const hasty = await kit.server.createToken("Hasty", ["--role", "player", "--for", campaign, "--page", "6"]);
  const visitor = await kit.open("hasty");
  await visitor.signIn(hasty.token, `${table.path}/sessions`);
  visitor.expect(429, `${table.path}/sessions`);
  // The stream of changes of the page counts as well.
  visitor.allow(429, `${table.path}/changes`);
  let response;
  for (let turn = 0; turn < 8 && response?.status() !== 429; turn += 1) response = await visitor.goto(`${table.path}/sessions`);
  kit.same("a token that asks too often is told so", response.status(), 429);
  kit.check("and when to come back", Number(response.headers()["retry-after"]) > 0, response.headers());
  const shown = await textOf(visitor.page.getByRole("main"));
  kit.check("on a page with a hint", /too fast|wait|slow/i.test(shown), shown);
  await visitor.checkAxe("too fast");
}
