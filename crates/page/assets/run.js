// A run while others move it: what is only looked at is replaced; a form is kept while something is typed in it.

const root = document.getElementById("run");
const PARTS = ["run-head", "run-checklist", "run-prompt", "run-history"];

function isTouched(form) {
  return [...form.elements].some((field) => {
    if (field.type === "hidden" || field.tagName === "BUTTON") return false;
    if (field.tagName === "SELECT") return [...field.options].some((option) => option.selected !== option.defaultSelected && option.value);
    return field.value !== field.defaultValue;
  });
}

let asking = false;
let again = false;

async function refresh() {
  if (asking) { again = true; return; }
  asking = true;
  try {
    const answer = await fetch(root.dataset.path, { headers: { "HX-Request": "true" } });
    if (!answer.ok) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    const before = document.getElementById("run-head").dataset.revision;
    const after = next.getElementById("run-head").dataset.revision;
    for (const id of PARTS) replace(id, next);
    const diagram = document.querySelector(".run-diagram");
    const drawn = next.querySelector(".run-diagram");
    if (diagram && drawn && diagram.innerHTML !== drawn.innerHTML) diagram.innerHTML = drawn.innerHTML;
    if (before !== after) {
      const forms = document.getElementById("run-forms");
      const isBusy = forms.contains(document.activeElement) || [...forms.querySelectorAll("form")].some(isTouched);
      if (isBusy) document.getElementById("run-moved").hidden = false;
      else replace("run-forms", next);
    }
    document.dispatchEvent(new CustomEvent("htmx:after:swap"));
  } finally {
    asking = false;
    if (again) { again = false; refresh(); }
  }
}

function replace(id, next) {
  const old = document.getElementById(id);
  const fresh = next.getElementById(id);
  if (old && fresh && old.outerHTML !== fresh.outerHTML && !old.contains(document.activeElement)) old.replaceWith(fresh);
}

if (root) {
  const events = new EventSource(root.dataset.live);
  let wasOpen = false;
  events.addEventListener("changed", refresh);
  events.addEventListener("open", () => { if (wasOpen) refresh(); wasOpen = true; });
  addEventListener("pagehide", () => events.close());
}
