// Replaces the parts of a page when others change what it shows: each element with data-live-part, by its id.
// A part stays while somebody types in it or while a reveal waits in it; then the warning of the page is shown.

import { openStream } from "./stream.js";

const root = document.querySelector("[data-live-parts]");

function isTouched(form) {
  return [...form.elements].some((field) => {
    if (field.type === "hidden" || field.tagName === "BUTTON") return false;
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    if (field.tagName === "SELECT") return [...field.options].some((option) => option.selected !== option.defaultSelected && option.value);
    return field.value !== field.defaultValue;
  });
}

// A page that answers a refused form has the form's address, which can only be sent to: it is that of the page itself.
if (root?.dataset.page) history.replaceState(null, "", root.dataset.page);

// A form that is on its way leads to another page, which a reload would overtake.
let isLeaving = false;
addEventListener("submit", (event) => { isLeaving ||= !event.defaultPrevented; });

function isBusy(part) {
  const active = document.activeElement;
  if (part.querySelector("[data-waiting]")) return true;
  if (part.contains(active) && active.closest("form")) return true;
  return [...part.querySelectorAll("form")].some(isTouched);
}

function showWarning() {
  const warning = document.getElementById("changed-meanwhile");
  if (warning) warning.hidden = false;
}

// Without what a script or a reader has changed since: times in the reader's zone, and what is unfolded.
function plainContent(part) {
  const copy = part.cloneNode(true);
  for (const time of copy.querySelectorAll("time")) time.textContent = time.dateTime;
  for (const details of copy.querySelectorAll("details")) details.open = false;
  return copy.innerHTML;
}

function isSame(part, fresh) {
  if (part.dataset.revision) return part.dataset.revision === fresh.dataset.revision;
  return plainContent(part) === plainContent(fresh);
}

function replace(part, fresh) {
  if (isSame(part, fresh)) return;
  if (isBusy(part)) { showWarning(); return; }
  const active = part.contains(document.activeElement) ? document.activeElement : null;
  const [id, link] = [active?.id, active?.getAttribute("href")];
  // Of buttons without an id the same place and word is the same button.
  const alike = (root) => [...root.querySelectorAll("button")].filter((other) => other.textContent === active?.textContent);
  const at = active?.tagName === "BUTTON" ? alike(part).indexOf(active) : -1;
  part.replaceChildren(...fresh.childNodes);
  if (fresh.dataset.revision) part.dataset.revision = fresh.dataset.revision;
  if (id) document.getElementById(id)?.focus();
  else if (link) [...part.querySelectorAll("a[href]")].find((other) => other.getAttribute("href") === link)?.focus();
  else if (at >= 0) alike(part)[at]?.focus();
  part.classList.add("just-changed");
  setTimeout(() => part.classList.remove("just-changed"), 2000);
}

let asking = false;
let again = false;

async function refresh() {
  if (asking) { again = true; return; }
  asking = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) {
      // It was deleted, or hidden from this visitor: the server says so, unless something typed would be lost.
      if ([403, 404].includes(answer.status) && !isLeaving && ![...document.forms].some(isTouched)) location.reload();
      return;
    }
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    const nextRoot = next.querySelector("[data-live-parts]");
    if (root.dataset.revision && root.dataset.revision !== nextRoot?.dataset.revision) showWarning();
    for (const part of document.querySelectorAll("[data-live-part]")) {
      const fresh = next.getElementById(part.id);
      if (fresh) replace(part, fresh);
    }
    document.dispatchEvent(new CustomEvent("htmx:after:swap"));
  } catch {
    // The stream notices it as well, says so, and asks again when it is back.
  } finally {
    asking = false;
    if (again) { again = false; refresh(); }
  }
}

if (root) {
  // Also when it opens: something may have changed since the page was rendered.
  openStream(root.dataset.liveParts, { onOpen: refresh, onEvent: ({ name }) => { if (name === "changed") refresh(); } });
}
