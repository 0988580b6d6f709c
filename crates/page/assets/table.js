// The table where scripts run: tabs on a narrow screen, a bar while the stream is down, boxes that empty once sent.

const table = document.querySelector(".table");
const tabs = document.querySelector(".tabs");
const offline = document.getElementById("offline");

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

let since = null;
function disconnected() {
  since ??= new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" }).format(new Date());
  offline.textContent = `Not connected since ${since}. What you type is kept.`;
  offline.hidden = false;
}
function connected() {
  since = null;
  offline.hidden = true;
}
document.addEventListener("htmx:sse:error", disconnected);
document.addEventListener("htmx:sse:close", disconnected);
document.addEventListener("htmx:sse:after:connection", connected);
window.addEventListener("offline", disconnected);

// A stream that ended tries again by itself; until it is back, the bar says so.
document.addEventListener("htmx:sse:before:connection", (event) => {
  if (event.detail.connection?.attempt > 0 && !document.hidden) disconnected();
});

document.addEventListener("htmx:after:request", (event) => {
  const form = event.target.closest?.("form[data-clear]");
  const status = event.detail?.ctx?.response?.status;
  if (form && status >= 200 && status < 300) {
    const field = form.elements[form.dataset.clear];
    if (field) field.value = "";
    const fault = document.getElementById("table-fault");
    if (fault) fault.textContent = "";
  }
});

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
