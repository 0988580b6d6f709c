// The search over any page of a campaign: opens with / or Ctrl-K, sends what is typed to the server, and closes with Escape.

import { followSignIn, renderedFault } from "./answers.js";

const opener = document.querySelector("[data-search]");
const waitMs = 120;
let dialog, input, hits, timer, asked = 0;

function build() {
  dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.setAttribute("aria-label", "Search the lore");
  const form = document.createElement("form");
  form.action = opener.dataset.search;
  form.setAttribute("role", "search");
  input = document.createElement("input");
  Object.assign(input, { type: "search", name: "q", autocomplete: "off", placeholder: "Names, texts, tags", dir: "auto" });
  input.setAttribute("aria-label", "Words to look for");
  form.append(input);
  hits = document.createElement("div");
  hits.className = "hits";
  hits.setAttribute("aria-live", "polite");
  dialog.append(form, hits);
  document.body.append(dialog);
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, waitMs);
  });
  form.addEventListener("submit", (event) => {
    const first = links()[0];
    if (first && hits.dataset.words === input.value) {
      event.preventDefault();
      location.assign(first.href);
    }
  });
  dialog.addEventListener("keydown", move);
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

const links = () => [...hits.querySelectorAll("a")];

async function ask() {
  const words = input.value, turn = ++asked;
  try {
    const answer = await fetch(`${opener.dataset.search}/search?q=${encodeURIComponent(words)}`, { headers: { "hx-request": "true" } });
    const html = await answer.text();
    // An answer to an older question is not shown over a newer one.
    if (turn !== asked || followSignIn(answer)) return;
    if (!answer.ok) {
      hits.replaceChildren(renderedFault(html, "The search cannot answer right now. Try again in a moment."));
      return;
    }
    const isInHits = hits.contains(document.activeElement);
    hits.innerHTML = html;
    if (isInHits) (links()[0] ?? input).focus();
    hits.dataset.words = words;
  } catch {
    if (turn === asked) hits.textContent = "Not connected. Try again in a moment.";
  }
}

function move(event) {
  const all = links(), at = all.indexOf(document.activeElement);
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const next = event.key === "ArrowDown" ? at + 1 : at - 1;
    if (next < 0) input.focus();
    else all[Math.min(next, all.length - 1)]?.focus();
  } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && document.activeElement === input && all[0]) {
    event.preventDefault();
    window.open(all[0].href, "_blank", "noopener");
  } else if (event.key.length === 1 && at >= 0 && !event.ctrlKey && !event.metaKey) {
    // Letters go into the box, also while a hit has the focus.
    input.focus();
  }
}

function open() {
  if (!dialog) build();
  if (dialog.open) return;
  dialog.showModal();
  input.select();
  ask();
}

if (opener) {
  opener.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  document.addEventListener("keydown", (event) => {
    const isCtrlK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
    const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (isCtrlK || isSlash) {
      event.preventDefault();
      open();
    }
  });
}
