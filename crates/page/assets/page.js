// What every page does where scripts run: colours without a reload, times in the reader's zone, buttons that copy, what
// follows the end of a session.

import { goToSignIn } from "./answers.js";

const labels = {
  system: "Colours of the system; switch to dark",
  dark: "Dark colours; switch to light",
  light: "Light colours; switch to those of the system",
};
const after = { system: "dark", dark: "light", light: "system" };

function chooseTheme(theme) {
  if (theme === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", theme);
  document.cookie = `skald-theme=${theme}; path=/; max-age=31536000; samesite=lax`;
  const button = document.getElementById("theme");
  button.value = after[theme];
  button.setAttribute("aria-label", labels[theme]);
  button.title = labels[theme];
  // Pictures of the server are drawn for a theme, which it reads from the cookie. Another address makes the browser ask again.
  for (const image of document.querySelectorAll("img[data-themed]")) {
    const address = new URL(image.src);
    address.searchParams.set("theme", theme);
    image.src = address;
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function showTimes(root) {
  for (const element of root.querySelectorAll("time[data-time]")) {
    const at = new Date(element.dateTime);
    if (!Number.isNaN(at.getTime())) {
      const text = (element.dataset.time === "clock" ? clock : full).format(at);
      if (element.textContent !== text) element.textContent = text;
    }
  }
}

function prepare(root) {
  showTimes(root);
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
}

document.addEventListener("submit", (event) => {
  if (event.target.matches("form.theme")) {
    event.preventDefault();
    chooseTheme(document.getElementById("theme").value);
  }
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) {
    await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  }
  // A click elsewhere closes the menu.
  for (const menu of document.querySelectorAll("details.who[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    for (const menu of document.querySelectorAll("details.who[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
});

// On a narrow screen the links of the bar scroll sideways: the one of this page is in view.
function showOwnLink() {
  const link = document.querySelector(".bar nav [aria-current]");
  const nav = link?.parentElement;
  if (nav) nav.scrollLeft += Math.max(0, link.getBoundingClientRect().right - nav.getBoundingClientRect().right);
}
addEventListener("resize", showOwnLink);
showOwnLink();

// htmx would follow the address at once, and what is typed on the page would be lost.
document.addEventListener("htmx:before:response", (event) => {
  const { response, hx } = event.detail.ctx;
  if (response.status !== 401 || !hx.redirect) return;
  event.preventDefault();
  goToSignIn(hx.redirect);
});

// After a refused form the focus is on the field that is wrong.
document.querySelector("form[data-refused] [aria-invalid]")?.focus();

// Drafts of the editor stay in this browser until they are saved, or until the visitor signs out.
try {
  const saved = sessionStorage.getItem("skald-saving");
  if (saved && new URLSearchParams(location.search).has("done")) localStorage.removeItem(saved);
  sessionStorage.removeItem("skald-saving");
  // Forms of the editor, and of the page that shows two versions. The address of the next page says whether the text is saved.
  document.addEventListener("submit", (event) => {
    const { draft } = event.target.dataset;
    if (draft) sessionStorage.setItem("skald-saving", `skald-draft:${draft}`);
  });
  document.addEventListener("submit", (event) => {
    if (event.target.getAttribute("action") !== "/sign-out") return;
    for (const key of Object.keys(localStorage)) if (key.startsWith("skald-draft:")) localStorage.removeItem(key);
  });
} catch {
  // Without storage there are no drafts.
}

document.addEventListener("htmx:after:swap", () => prepare(document));
prepare(document);
