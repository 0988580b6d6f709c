// The editor: shows a preview of what is typed, and keeps what is typed in this browser until it is saved.

import { followSignIn, renderedFault } from "./answers.js";

const form = document.querySelector("form[data-draft]");
const entry = form?.elements.entry;
const preview = document.getElementById("preview");
const state = form?.querySelector(".draft-state");
const key = form && `skald-draft:${form.dataset.draft}`;
let previewTimer, draftTimer, asked = 0;

async function showPreview() {
  const turn = ++asked;
  try {
    const answer = await fetch(form.dataset.preview, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "hx-request": "true" },
      body: new URLSearchParams({ entry: entry.value }),
    });
    const html = await answer.text();
    // An answer to an older question is not shown over a newer one.
    if (turn !== asked || followSignIn(answer)) return;
    if (answer.ok) preview.innerHTML = html;
    else preview.replaceChildren(renderedFault(html, "There is no preview right now; what you type is kept here."));
  } catch {
    state.textContent = "Not connected; what you type is kept here.";
  }
}

function typed() {
  const fields = {};
  for (const field of form.elements) {
    // The hidden fields say which version was edited. Without them, a draft that is taken up again would undo what others
    // have saved since.
    if (field.name && field.type !== "submit") {
      fields[field.name] = field.type === "checkbox" ? field.checked : field.value;
    }
  }
  return fields;
}

// The fields that people see, without the hidden ones of the edited version.
const visible = (fields) => JSON.stringify(Object.entries(fields).filter(([name]) => form.elements[name]?.type !== "hidden"));

function keepDraft() {
  try {
    localStorage.setItem(key, JSON.stringify(typed()));
  } catch {
    // Without storage the form is still sent.
  }
}

function offerDraft() {
  let draft;
  try {
    draft = JSON.parse(localStorage.getItem(key));
  } catch {
    return;
  }
  if (!draft || visible(draft) === visible(typed())) {
    localStorage.removeItem(key);
    return;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Bring back what you typed";
  button.addEventListener("click", () => {
    for (const [name, value] of Object.entries(draft)) {
      const field = form.elements[name];
      if (!field) continue;
      if (field.type === "checkbox") field.checked = value;
      else field.value = value;
    }
    button.remove();
    showPreview();
  });
  state.append(button);
}

if (form && entry) {
  form.querySelector(".preview-button").hidden = true;
  offerDraft();
  form.addEventListener("input", (event) => {
    clearTimeout(draftTimer);
    draftTimer = setTimeout(keepDraft, 300);
    if (event.target === entry) {
      clearTimeout(previewTimer);
      previewTimer = setTimeout(showPreview, 250);
    }
  });
  form.addEventListener("reset", () => setTimeout(() => { localStorage.removeItem(key); showPreview(); }));
  form.addEventListener("submit", keepDraft);
  entry.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "s" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button[value=save]"));
    }
  });
}
