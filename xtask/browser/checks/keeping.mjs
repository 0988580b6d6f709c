// The owner, who needs no token on the machine itself: tokens, invitations with a QR code, the audit, the store, limits.

import { sizes, textOf, unfold } from "../harness.mjs";
import { createTable } from "../world.mjs";

const pages = ["/keeping", "/keeping/audit", "/keeping/store", "/keeping/limits", "/browsers", "/"];

export async function checkPart(kit) {
  const table = await createTable(kit.owned, { name: "The owner's table" });
  const owner = await kit.open("owner", { base: kit.owned.base });
  const response = await owner.goto("/");
  kit.same("the owner is simply there", response.status(), 200);
  kit.check("and has the campaigns", await owner.page.getByRole("link", { name: table.name }).isVisible());
  await owner.page.locator("summary").filter({ hasText: /owner|you/i }).first().click();
  kit.check("and may sign in as somebody", (await owner.page.getByRole("link", { name: "Sign in as somebody" }).count()) === 1);
  await kit.waits("how to connect an AI can be copied", () => owner.page.getByText("Connect your AI").waitFor());
  await owner.goto(table.path);
  await owner.page.getByLabel("Why", { exact: true }).fill("As the owner");
  await owner.page.getByRole("button", { name: /Roll$/ }).click();
  await kit.waits("and rolls", () => owner.page.getByRole("region", { name: "Log" }).getByText("As the owner").waitFor());
  await everyPage(kit, owner);
  await tokens(kit, owner, table);
  await invitations(kit, owner, table);
  await store(kit, owner);
  await audit(kit, owner);
  await withoutScripts(kit, table);
  await others(kit);
}

async function everyPage(kit, owner) {
  for (const path of pages) {
    await owner.goto(path);
    for (const size of [sizes.phone, sizes.wide]) {
      for (const colorScheme of ["light", "dark"]) {
        await owner.page.setViewportSize(size);
        await owner.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await owner.checkAxe(`${path} ${size.width} ${colorScheme}`);
      }
    }
  }
}

async function tokens(kit, owner, table) {
  const { page } = owner;
  await owner.goto("/keeping");
  const form = await unfold(page.getByRole("main"), "Make a token");
  await form.getByLabel("Name").fill("Dora");
  await form.getByLabel("Role", { exact: true }).selectOption({ label: "game master" });
  await form.getByLabel("Where").selectOption({ label: table.name });
  await form.getByLabel("Role at gates").fill("human");
  await form.getByRole("button", { name: "Make the token" }).click();
  const secret = page.getByText(/^skald_\w+$/);
  await kit.waits("a token is shown once", () => secret.waitFor());
  await owner.checkAxe("a new token");
  const token = await secret.innerText();
  const dora = await kit.open("Dora", { base: owner.base });
  await dora.goto("/sign-in");
  await dora.page.getByLabel("Token").fill(token);
  await dora.page.getByRole("button", { name: "Sign in" }).click();
  await kit.waits("and signs in where the owner is there already", () => dora.page.locator("summary").filter({ hasText: "Dora" }).waitFor());
  dora.expect(403, "/keeping");
  kit.same("keeping is for the owner alone", (await dora.goto("/keeping")).status(), 403);
  await dora.checkAxe("refused");
  await owner.goto("/keeping");
  await page.getByRole("button", { name: "Revoke the token of Dora" }).click();
  await kit.waits("a revoked token is gone from the list", () => page.getByRole("button", { name: "Revoke the token of Dora" }).waitFor({ state: "detached" }));
  dora.expect(401, table.path);
  kit.same("and its browser is signed out", (await dora.goto(table.path)).status(), 401);
}

async function invitations(kit, owner, table) {
  const { page } = owner;
  await owner.goto("/keeping");
  const form = page.locator("form").filter({ has: page.getByRole("button", { name: "Invite", exact: true }) });
  await form.getByLabel("Name").fill("Ben");
  await form.getByLabel("Where").selectOption({ label: table.name });
  await form.getByLabel("Is, at the table").fill("Ben");
  await form.getByRole("button", { name: "Invite", exact: true }).click();
  const link = page.getByText(/^http:\S+\/join\/\S+$/);
  await kit.waits("an invitation is a link", () => link.waitFor());
  const code = page.getByRole("img", { name: "QR code of the invitation" });
  const box = await code.boundingBox();
  kit.check("and a code for a phone", box && box.width >= 120 && Math.abs(box.width - box.height) < 2, box);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await owner.checkAxe(`an invitation ${colorScheme}`);
  }
  const address = await link.innerText();
  const guest = await kit.open("invited", { base: owner.base, options: { viewport: sizes.phone } });
  const opened = await guest.page.goto(address);
  kit.same("opening the link changes nothing yet", opened.status(), 200);
  await guest.checkAxe("the link");
  await guest.page.getByRole("button", { name: "Join" }).click();
  await kit.waits("whoever joins is at home", () => guest.page.getByRole("link", { name: table.name }).waitFor());
  await guest.goto(table.path);
  kit.check("and plays as who they are", await guest.page.getByRole("button", { name: /Roll$/ }).isVisible());
  const again = await kit.open("late", { base: owner.base });
  await again.page.goto(address);
  for (const status of [400, 401, 404, 409, 422]) again.allow(status, "/join");
  await again.page.getByRole("button", { name: "Join" }).click();
  await kit.waits("an invitation works once", () => again.page.getByRole("alert").first().waitFor());
}

async function store(kit, owner) {
  const { page } = owner;
  await owner.goto("/keeping/store");
  await page.getByRole("button", { name: "Verify now" }).click();
  await kit.waits("a verification has its result", () => page.getByRole("heading", { name: "Sound", exact: true }).waitFor());
  await owner.checkAxe("a verification");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download a backup" }).click()]);
  kit.check("a backup is a file", /^skald-.*\.db$/.test(download.suggestedFilename()), download.suggestedFilename());
  kit.same("that comes whole", await download.failure(), null);
}

async function audit(kit, owner) {
  const { page } = owner;
  await owner.goto("/keeping/audit");
  kit.check("the audit has its rows", (await page.getByRole("row").count()) > 1);
  await page.getByLabel("Outcome").fill("NO_SUCH");
  await page.getByRole("button", { name: "Filter" }).click();
  await kit.waits("and can be filtered", () => page.getByText("No such call").waitFor());
  await page.getByLabel("Since").fill("2020-01-01");
  await page.getByLabel("Outcome").fill("");
  await page.getByRole("button", { name: "Filter" }).click();
  await kit.waits("by a day as well", () => page.getByRole("table").waitFor());
  await owner.goto("/keeping/limits");
  const limits = await textOf(page.getByRole("table"));
  kit.check("the limits have their units", limits.includes("characters"), limits.slice(0, 200));
}

async function withoutScripts(kit, table) {
  const plain = await kit.open("owner without scripts", { base: kit.owned.base, options: { javaScriptEnabled: false } });
  const { page } = plain;
  for (const path of pages) kit.same(`without scripts: ${path}`, (await plain.goto(path)).status(), 200);
  await plain.goto("/keeping");
  const form = page.locator("form").filter({ has: page.getByRole("button", { name: "Invite", exact: true }) });
  await form.getByLabel("Name").fill("Gus");
  await form.getByLabel("Role", { exact: true }).selectOption("guest");
  await form.getByLabel("Where").selectOption({ label: table.name });
  await form.getByRole("button", { name: "Invite", exact: true }).click();
  await kit.waits("an invitation without scripts", () => page.getByRole("img", { name: "QR code of the invitation" }).waitFor());
  await plain.goto("/keeping/store");
  await page.getByRole("button", { name: "Verify now" }).click();
  await kit.waits("a verification without scripts", () => page.getByRole("heading", { name: "Sound", exact: true }).waitFor());
}

// Where tokens are required, the same machine is nobody.
async function others(kit) {
  const nobody = await kit.open("nobody");
  nobody.expect(401, "/keeping");
  kit.same("a server that requires tokens has no owner in a browser", (await nobody.goto("/keeping")).status(), 401);
}
