// Runs of a gate: a person approves, sends back, overrides and gives up; evidence; and who may not.

import { sizes, textOf, unfold, waitForValue } from "../harness.mjs";
import { addQuest, addReview, emitter } from "../world.mjs";

const main = (page) => page.getByRole("main");
const standsAt = (page, state) => main(page).getByText(`Stands at ${state}`).first().waitFor();

export async function checkPart(kit) {
  const table = await addQuest(await kit.table("Gates"), { quest: "Silence the bell", patron: "The abbess", stakes: "The town", reward: "Her list" });
  const gm = await kit.signIn(table, "gm", { path: `${table.path}/runs` });
  await kit.waits("runs are listed", () => gm.page.getByRole("link", { name: "Quest" }).waitFor());
  await gm.checkAxe("runs");
  await quest(kit, table, gm);
  await override(kit, table, gm);
  await approve(kit, table, gm);
  await sendBack(kit, table, gm);
  await others(kit, table);
}

async function quest(kit, table, gm) {
  const { page } = gm;
  const path = `${table.path}/runs/${table.quest}`;
  const watching = await kit.signIn(table, "gm", { path });
  await gm.goto(path);
  const bounds = (selector) => page.locator(selector).evaluate((element) => element.getBoundingClientRect().toJSON());
  const [head, columns, history] = [await bounds("#run-head"), await bounds(".run-columns"), await bounds("#run-history")];
  kit.check("the parts of a run stand apart", columns.top - head.bottom >= 8 && history.top - columns.bottom >= 8, { head, columns, history });
  await page.setViewportSize(sizes.phone);
  await page.locator("#run-diagram").evaluate((frame) => { frame.scrollLeft = 0; });
  const [frame, drawing] = [await bounds("#run-diagram"), await bounds("#run-diagram > svg")];
  kit.check("on a phone one can scroll to both ends of the diagram", drawing.left >= frame.left - 1 && drawing.width > frame.width, { frame, drawing });
  await page.setViewportSize(sizes.wide);
  kit.check("a run has its diagram", (await page.getByRole("region", { name: "Diagram" }).locator("svg").count()) === 1);
  const accept = await unfold(main(page), /^\s*Accept quest/);
  await accept.getByLabel("Terms").fill("Half now, half when it is silent.");
  await accept.getByRole("button", { name: "Accept quest" }).click();
  await kit.waits("a person moves a run", () => standsAt(page, "Investigation"));
  await kit.waits("on every screen", () => standsAt(watching.page, "Investigation"));
  const clue = await unfold(main(page), /^\s*Submit clue/);
  await clue.getByLabel("Summary").fill("It rings beneath the hull");
  await clue.getByLabel("Source").selectOption("witness");
  await unfold(clue, "Attach evidence");
  await clue.getByLabel("File name").fill("clue-tide.md");
  await clue.getByLabel("Its text").fill("The fisher heard it ring beneath the hull, three nights in a row.");
  await clue.getByRole("button", { name: "Submit clue" }).click();
  const evidence = main(page).getByRole("link", { name: "clue-tide.md" }).first();
  await kit.waits("evidence is beside what it is for", () => evidence.waitFor());
  await kit.waits("and what is missing is said", () => main(page).getByText("clues: 1 of 3").first().waitFor());
  await gm.checkAxe("a run with evidence");
  await evidence.click();
  await kit.waits("evidence can be read", () => page.getByText("The fisher heard it ring").waitFor());
  await gm.checkAxe("evidence");
  await gm.goto(path);
  // A form that was refused keeps what was typed.
  const late = await unfold(main(page), /^\s*Submit clue/);
  for (const status of [400, 422]) gm.allow(status, `${path}/emit`);
  await late.getByLabel("Summary").fill("A clue without its file name");
  await late.getByLabel("Source").selectOption("place");
  await unfold(late, "Attach evidence");
  await late.getByLabel("Its text").fill("Text of a file that has no name");
  await late.getByRole("button", { name: "Submit clue" }).click();
  await kit.waits("a refusal is explained", () => page.getByRole("alert").first().waitFor());
  kit.same("and keeps what was typed", await main(page).getByLabel("Summary").inputValue(), "A clue without its file name");
  await gm.checkAxe("a refused form");
  await othersMove(kit, table, gm, late);
}

// Somebody else moves the run: what is typed stays, and the forms are replaced once nothing typed would be lost.
async function othersMove(kit, table, gm, late) {
  const { page } = gm;
  const revision = () => page.locator("#run-forms input[name=revision]").first().inputValue();
  const move = async (clock) => {
    const { revision: at } = await table.call("state_gate.get_state", { run_id: table.quest });
    await emitter(table, table.quest, at)("advance_clock", { payload: { clock } });
  };
  const moved = page.locator("#changed-meanwhile");
  const before = await revision();
  await page.getByRole("heading", { level: 1 }).click();
  await move(1);
  await kit.waits("a moved run is said beside a refused form", () => moved.waitFor({ state: "visible" }));
  kit.same("which keeps what was typed", await main(page).getByLabel("Summary").inputValue(), "A clue without its file name");
  kit.same("also what was chosen", await main(page).getByLabel("Source").inputValue(), "place");
  kit.same("and the revision that was seen", await revision(), before);
  await late.getByLabel("File name").fill("clue-late.md");
  gm.allow(409, new URL(page.url()).pathname);
  const answer = page.waitForResponse((response) => response.request().method() === "POST");
  await late.getByRole("button", { name: "Submit clue" }).click();
  kit.check("the form is refused, since the run has moved", (await answer).status() >= 400, (await answer).status());
  await page.waitForLoadState("load");
  kit.same("and keeps what was typed again", await main(page).getByLabel("Summary").inputValue(), "A clue without its file name");

  await gm.goto(`${table.path}/runs/${table.quest}`);
  const form = await unfold(main(page), /^\s*Submit clue/);
  const seen = await revision();
  await form.getByLabel("Summary").focus();
  await move(2);
  await kit.waits("a form that has the focus stays as it is", () => moved.waitFor({ state: "visible" }));
  kit.same("with its revision", await revision(), seen);
  await page.getByRole("heading", { level: 1 }).click();
  await kit.waits("until the focus leaves it", () => waitForValue(async () => (await revision()) !== seen, true));
  await kit.waits("and the warning goes", () => moved.waitFor({ state: "hidden" }));

  // What somebody reads stays unfolded, and what has the focus keeps it.
  const isOpen = async (details) => (await details.getAttribute("open")) !== null;
  const override = await unfold(main(page), /Override.*Submit clue/);
  const attach = main(page).locator("details.attach");
  const unfoldedAt = await revision();
  await move(3);
  await kit.waits("a form in which nothing is typed is replaced", () => waitForValue(async () => (await revision()) !== unfoldedAt, true));
  kit.check("and stays unfolded", await isOpen(override));
  kit.same("while the others stay folded", await attach.evaluateAll((all) => all.filter(({ open }) => open).length), 0);
  kit.check("and its summary keeps the focus", await override.locator("summary").evaluate((summary) => summary === document.activeElement));
}

async function override(kit, table, gm) {
  const { page } = gm;
  await gm.goto(`${table.path}/runs/${table.quest}`);
  const form = await unfold(main(page), /Override.*Submit clue/);
  await form.getByLabel("Why it may go on all the same").fill("They saw it themselves.");
  await form.getByRole("button", { name: /^Override/ }).click();
  await kit.waits("a person overrides a guard", () => standsAt(page, "Confrontation"));
  const history = await textOf(main(page));
  kit.check("the history says who and why", history.includes("Guard overridden") && history.includes("They saw it themselves.") && history.includes("Ada as human"), history);
  const cancel = await unfold(main(page), "Give the run up");
  await cancel.getByLabel("Why", { exact: true }).fill("The players went home.");
  await cancel.getByRole("button", { name: "Give up" }).click();
  await kit.waits("a run can be given up", () => main(page).getByText("given up").first().waitFor());
}

async function approve(kit, table, gm) {
  const { page } = gm;
  await gm.goto(`${table.path}/runs/${await addReview(table)}`);
  const form = await unfold(main(page), /^\s*Approve/);
  await form.getByLabel("Impact").selectOption("minor");
  await form.getByRole("button", { name: "Approve" }).click();
  await kit.waits("a person approves", () => standsAt(page, "Canon"));
  await kit.waits("and the run is finished", () => main(page).getByText("finished").first().waitFor());
  await gm.checkAxe("a finished run");
}

async function sendBack(kit, table, gm) {
  const { page } = gm;
  await gm.goto(`${table.path}/runs/${await addReview(table)}`);
  const form = await unfold(main(page), /^\s*Reject/);
  await form.getByLabel("Wanted").fill("Say who rings it.");
  await form.getByRole("button", { name: "Reject" }).click();
  await kit.waits("a person sends a draft back", () => standsAt(page, "Draft"));
  await kit.waits("with what is wanted, as quoted text", () => page.locator("blockquote").filter({ hasText: "Say who rings it." }).first().waitFor());
}

// Whoever acts as an agent decides nothing that takes a person; a player sees no run of others.
async function others(kit, table) {
  const run = await addReview(table);
  const agent = await kit.server.personToken("Bot", "gm", { campaign: table.campaign, options: ["--kind", "agent"] });
  table.tokens.agent = agent.token;
  const { page } = await kit.signIn(table, "agent", { path: `${table.path}/runs/${run}` });
  const shown = await textOf(main(page));
  kit.check("an agent is told that a person decides", /as agent/i.test(shown) && !/Override a|Approve$/m.test(shown), shown);
  kit.same("and has no button for it", await page.getByRole("button", { name: /^(Approve|Reject|Override)/ }).count(), 0);
  const player = await kit.signIn(table, "player", { path: `${table.path}/runs` });
  player.expect(404, `${table.path}/runs/${run}`);
  kit.same("a player has no run of others", (await player.goto(`${table.path}/runs/${run}`)).status(), 404);
  await player.checkAxe("nothing here");
}
