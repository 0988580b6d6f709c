// The table where scripts run: its stream, tabs on a narrow screen, fields that empty once sent.

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

// Each event has the parts that changed; htmx puts them in their places.
const live = document.getElementById("live");
openStream(live.dataset.stream, {
  onEvent: ({ data }) => htmx.swap({ sourceElement: live, target: live, swap: "none swapEmpty:false", text: data }),
});

// New characters join the lists to choose from; what is chosen stays.
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

// A tracker that moved is marked for two seconds.
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

document.addEventListener("htmx:after:swap", (event) => {
  if (event.target !== live) return;
  showActors();
  markTrackers();
});

// A field is emptied once it was sent, unless somebody typed on meanwhile.
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
});

// On a narrow screen the roll box is a bar; the rest of it unfolds.
for (const button of document.querySelectorAll("[data-expand]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const isOpen = document.getElementById(button.dataset.expand).classList.toggle("is-open");
    button.setAttribute("aria-expanded", String(isOpen));
  });
}

// The roll of somebody else slides over the top on a narrow screen, for three seconds.
const announce = document.getElementById("announce");
const toast = document.createElement("div");
toast.className = "toast";
toast.setAttribute("aria-hidden", "true");
toast.hidden = true;
document.body.append(toast);
let timer;
new MutationObserver(() => {
  const text = announce.textContent.trim();
  if (!text || table.dataset.tab === "log") return;
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => { toast.hidden = true; }, 3000);
}).observe(announce, { childList: true, characterData: true, subtree: true });
