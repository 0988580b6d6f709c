// Replaces the parts of a page when others change what it shows: each element with data-live-part, by its id.
// A part stays while somebody types in it, while it has text that is not sent, and while a reveal waits in it. Then the
// warning of the page is shown, and the part is replaced later.

import { hasUnsentText, unfoldAsBefore } from "./form-state.js";
import { openStream } from "./stream.js";

const root = document.querySelector("[data-live-parts]");

// The answer to a refused form has the form's address, which only accepts POST. A reload needs the address of the page.
if (root?.dataset.page) history.replaceState(null, "", root.dataset.page);

// While the browser sends a form, it is about to open another page: a reload would cancel that.
let isLeaving = false;
addEventListener("submit", (event) => { isLeaving ||= !event.defaultPrevented; });
addEventListener("pageshow", () => { isLeaving = false; });

function isBusy(part) {
  const active = document.activeElement;
  if (part.querySelector("[data-waiting]")) return true;
  if (part.contains(active) && active.closest("form")) return true;
  return hasUnsentText(part);
}

function showWarning(isShown) {
  const warning = document.getElementById("changed-meanwhile");
  if (warning) warning.hidden = !isShown;
}

// The HTML of a part without what scripts and the reader have changed: times in the reader's zone, marks of what is new, and
// what is unfolded.
function plainContent(part) {
  const copy = part.cloneNode(true);
  for (const time of copy.querySelectorAll("time")) time.textContent = time.dateTime;
  for (const entry of copy.querySelectorAll(".fresh")) entry.classList.remove("fresh");
  for (const details of copy.querySelectorAll("details")) details.open = false;
  return copy.innerHTML;
}

function isSame(part, fresh) {
  if (part.dataset.revision) return part.dataset.revision === fresh.dataset.revision;
  return plainContent(part) === plainContent(fresh);
}

// The server marks new entries of a log. Without animations the mark would stay.
function unmarkEntries() {
  const fresh = [...document.querySelectorAll("[data-live-part] .fresh")];
  if (fresh.length > 0) setTimeout(() => { for (const entry of fresh) entry.classList.remove("fresh"); }, 2000);
}
unmarkEntries();

// Parts that have changed on the server while they were busy.
const pending = new Set();

function replace(part, fresh) {
  pending.delete(part);
  if (isSame(part, fresh)) return;
  if (isBusy(part)) { pending.add(part); return; }
  const active = part.contains(document.activeElement) ? document.activeElement : null;
  const [id, link] = [active?.id, active?.getAttribute("href")];
  // A button or a summary without an id is found again by its text, and by its position among those with that text.
  const alike = (root) => [...root.querySelectorAll(active.tagName)].filter((other) => other.textContent === active.textContent);
  const at = active?.matches("button, summary") ? alike(part).indexOf(active) : -1;
  unfoldAsBefore(part, fresh);
  part.replaceChildren(...fresh.childNodes);
  if (fresh.dataset.revision) part.dataset.revision = fresh.dataset.revision;
  if (id) document.getElementById(id)?.focus();
  else if (link) [...part.querySelectorAll("a[href]")].find((other) => other.getAttribute("href") === link)?.focus();
  else if (at >= 0) alike(part)[at]?.focus();
  unmarkEntries();
  part.classList.add("just-changed");
  setTimeout(() => part.classList.remove("just-changed"), 2000);
}

// One request at a time: a change that comes meanwhile is followed by another request.
let isAsking = false;
let hasNewerChange = false;

async function refresh() {
  if (isAsking) { hasNewerChange = true; return; }
  isAsking = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) {
      // The page was deleted, or hidden from this visitor. A reload shows what the server says; something typed would be lost.
      if ([403, 404].includes(answer.status) && !isLeaving && !hasUnsentText(document)) location.reload();
      return;
    }
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    const nextRoot = next.querySelector("[data-live-parts]");
    for (const part of document.querySelectorAll("[data-live-part]")) {
      const fresh = next.getElementById(part.id);
      if (fresh) replace(part, fresh);
    }
    const isOutdated = root.dataset.revision && root.dataset.revision !== nextRoot?.dataset.revision;
    showWarning(isOutdated || pending.size > 0);
    document.dispatchEvent(new CustomEvent("htmx:after:swap"));
  } catch {
    // The stream notices a lost connection as well, and calls this again when it is back.
  } finally {
    isAsking = false;
    if (hasNewerChange) { hasNewerChange = false; refresh(); }
  }
}

// Replaces a part that was busy once nothing typed would be lost.
function replacePending() {
  if ([...pending].some((part) => !isBusy(part))) refresh();
}

// After these events the focus has moved, a form has been reset, or its answer has come.
for (const name of ["focusout", "reset", "htmx:after:request"]) {
  document.addEventListener(name, () => setTimeout(replacePending));
}

if (root) {
  // Also when it opens: something may have changed since the server rendered the page.
  openStream(root.dataset.liveParts, { onOpen: refresh, onEvent: ({ name }) => { if (name === "changed") refresh(); } });
}
