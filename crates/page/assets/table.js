// The table where scripts run: its stream, tabs on a narrow screen, fields that empty once sent, refused fields, and the
// rolls of others on a phone.

import { openStream } from "./stream.js";

const table = document.querySelector(".table");
const tabs = document.querySelector(".tabs");

function show(name) {
  table.dataset.tab = name;
  for (const button of tabs.children) button.setAttribute("aria-pressed", String(button.dataset.show === name));
}

tabs.hidden = false;
document.body.classList.add("has-tabs");
tabs.addEventListener("click", (event) => {
  const button = event.target.closest("[data-show]");
  if (button) show(button.dataset.show);
});

// Each event has the HTML of the parts that changed. htmx puts each into its element.
const live = document.getElementById("live");
openStream(live.dataset.stream, {
  onEvent: ({ data }) => htmx.swap({ sourceElement: live, target: live, swap: "none swapEmpty:false", text: data }),
});

// Adds new characters to the lists to choose from. What is selected stays, also if the character is gone.
function showActors() {
  const actors = [...document.getElementById("actor-options").children];
  for (const list of document.querySelectorAll("select[data-actors]")) {
    for (const actor of actors) {
      const known = [...list.options].find((option) => option.value === actor.value);
      if (!known) list.append(actor.cloneNode(true));
      else if (known.text !== actor.text) known.text = actor.text;
    }
    for (const option of [...list.options]) {
      const isActor = option.value && option.value !== "GM";
      if (isActor && !option.selected && !actors.some((actor) => actor.value === option.value)) option.remove();
    }
  }
}

// Marks a tracker whose value changed, for two seconds.
const trackerName = (row) => `${row.closest(".person")?.id ?? ""}/${row.querySelector(".tracker-name").textContent}`;
const readTrackers = () => new Map([...document.querySelectorAll(".tracker[data-value]")].map((row) => [trackerName(row), row.dataset.value]));
let trackers = readTrackers();
function markTrackers() {
  for (const row of document.querySelectorAll(".tracker[data-value]")) {
    const before = trackers.get(trackerName(row));
    if (before === undefined || before === row.dataset.value) continue;
    row.classList.add("fresh");
    setTimeout(() => row.classList.remove("fresh"), 2000);
  }
  trackers = readTrackers();
}

// The server marks new entries of the log. The mark goes after two seconds, also where it is no animation.
function unmarkEntries() {
  const fresh = [...document.querySelectorAll("#log .fresh")];
  if (fresh.length > 0) setTimeout(() => { for (const entry of fresh) entry.classList.remove("fresh"); }, 2000);
}
unmarkEntries();

// When a session begins or ends, the style sheet hides the forms that do not apply, also one that has the focus. Then the
// focus moves to the field that one needs next.
let lastFocused = null;
document.addEventListener("focusin", (event) => { lastFocused = event.target; });
function moveHiddenFocus() {
  const active = document.activeElement;
  const isLost = lastFocused?.closest(".in-session, .between-sessions") && !lastFocused.checkVisibility();
  if (!isLost || (active !== document.body && active !== lastFocused)) return;
  const places = ["name", "expression", "main"].map((id) => document.getElementById(id));
  places.find((place) => place?.checkVisibility())?.focus();
}

document.addEventListener("htmx:after:swap", (event) => {
  if (event.target !== live) return;
  showActors();
  markTrackers();
  unmarkEntries();
  moveHiddenFocus();
});

// The button of a tracker at its limit is marked with aria-disabled and keeps the focus: the browser would send its form.
document.addEventListener("click", (event) => {
  if (event.target.closest("button[aria-disabled=true]")) event.preventDefault();
}, true);

// Empties a field once its form was sent, unless somebody has typed more meanwhile.
const sent = new WeakMap();
const clearedField = (form) => form?.elements[form.dataset.clear];
document.addEventListener("htmx:before:request", (event) => {
  const form = event.target.closest?.("form[data-clear]");
  if (form && event.target === form) sent.set(form, clearedField(form)?.value);
});
document.addEventListener("htmx:after:request", (event) => {
  const form = event.target.closest?.("form");
  const status = event.detail?.ctx?.response?.status;
  if (!form || event.target !== form || !(status >= 200 && status < 300)) return;
  const field = form.dataset.clear ? clearedField(form) : null;
  if (field && field.value === sent.get(form)) field.value = "";
  document.getElementById("table-fault").textContent = "";
  for (const invalid of form.querySelectorAll("[aria-invalid]")) showValid(invalid);
});

// Marks the field that an error is about, until somebody types in it. Screen readers read the error with the field.
const otherDescriptions = (field) => (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && id !== "table-fault");
function showInvalid(field) {
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", [...otherDescriptions(field), "table-fault"].join(" "));
}
function showValid(field) {
  field.removeAttribute("aria-invalid");
  const ids = otherDescriptions(field);
  if (ids.length > 0) field.setAttribute("aria-describedby", ids.join(" "));
  else field.removeAttribute("aria-describedby");
}
document.addEventListener("htmx:after:request", (event) => {
  const form = event.target.closest?.("form");
  const { response, text } = event.detail?.ctx ?? {};
  if (!form || event.target !== form || !(response?.status >= 400)) return;
  const refused = new DOMParser().parseFromString(text ?? "", "text/html").querySelector("[data-refused-field]");
  const field = refused && form.elements[refused.dataset.refusedField];
  if (!field?.setAttribute) return;
  showInvalid(field);
  field.focus();
});
document.addEventListener("input", (event) => { if (event.target.hasAttribute("aria-invalid")) showValid(event.target); });

// On a narrow screen the roll box shows its first line only. A button shows the other fields.
for (const button of document.querySelectorAll("[data-expand]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const isOpen = document.getElementById(button.dataset.expand).classList.toggle("is-open");
    button.setAttribute("aria-expanded", String(isOpen));
  });
}

// On a narrow screen, shows a roll of somebody else over the top of the page for three seconds. Rolls that this page has
// sent are not shown there: the answer to their form has the id of the roll.
const announce = document.getElementById("announce");
const toast = document.createElement("div");
toast.className = "toast";
toast.setAttribute("aria-hidden", "true");
toast.hidden = true;
document.body.append(toast);
const rollBox = document.getElementById("roll-box");
const ownRolls = new Set();
let rollsOnTheirWay = 0, announced = announce.firstElementChild?.dataset.roll, timer;

function showToast() {
  const roll = announce.firstElementChild;
  // The stream may be faster than the answer to the form.
  if (!roll || roll.dataset.roll === announced || rollsOnTheirWay > 0) return;
  announced = roll.dataset.roll;
  if (ownRolls.has(announced) || table.dataset.tab === "log") return;
  toast.textContent = roll.textContent;
  toast.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => { toast.hidden = true; }, 3000);
}

new MutationObserver(showToast).observe(announce, { childList: true, attributes: true, characterData: true, subtree: true });
rollBox?.addEventListener("htmx:before:request", (event) => { if (event.target === rollBox) rollsOnTheirWay += 1; });
rollBox?.addEventListener("htmx:after:request", (event) => {
  const id = event.target === rollBox && event.detail.ctx.response.headers.get("skald-roll");
  if (id) ownRolls.add(id);
});
rollBox?.addEventListener("htmx:finally:request", (event) => {
  if (event.target !== rollBox) return;
  rollsOnTheirWay = Math.max(0, rollsOnTheirWay - 1);
  showToast();
});
