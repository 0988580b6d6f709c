// Sends the form of a reveal after ten seconds, in which a button undoes it. The server is told nothing before, so leaving
// the page undoes it too.

const SECONDS = 10;

function wait(form, button) {
  const note = document.createElement("p");
  note.className = "waiting";
  note.dataset.waiting = "";
  note.setAttribute("role", "status");
  const left = document.createElement("span");
  left.setAttribute("aria-hidden", "true");
  const undo = document.createElement("button");
  undo.type = "button";
  undo.textContent = "Undo";
  note.append(`${button.firstChild.textContent} in ten seconds. `, left, " ", undo);
  const row = form.closest(".known");
  const buttons = [...row.querySelectorAll("button")];
  for (const other of buttons) other.disabled = true;
  row.append(note);
  undo.focus();
  const end = Date.now() + SECONDS * 1000;
  const tick = () => {
    const seconds = Math.ceil((end - Date.now()) / 1000);
    if (seconds > 0) { left.textContent = `${seconds} s`; return; }
    clearInterval(timer);
    undo.disabled = true;
    for (const other of buttons) other.disabled = false;
    form.dataset.isDue = "";
    form.requestSubmit(button);
  };
  const timer = setInterval(tick, 250);
  tick();
  undo.addEventListener("click", () => {
    clearInterval(timer);
    note.remove();
    for (const other of buttons) other.disabled = false;
    button.focus();
  });
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches(".reveal form") || event.submitter?.value === "gm" || "isDue" in form.dataset) return;
  event.preventDefault();
  wait(form, event.submitter);
});
