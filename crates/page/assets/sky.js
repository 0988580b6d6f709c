// The map of a universe: pans, zooms, selects a body, and shows another moment. Nothing of that changes the universe.

import { followSignIn, renderedFault } from "./answers.js";
import { hasUnsentText, unfoldAsBefore } from "./form-state.js";
import { openStream } from "./stream.js";

const root = document.getElementById("sky");
const frame = document.getElementById("map");
const moment = document.getElementById("moment");
const play = document.getElementById("play");
const speed = document.getElementById("speed");
const days = document.getElementById("days");
const said = document.getElementById("map-said");
const momentSaid = document.getElementById("moment-said");
const fault = document.getElementById("sky-fault");
const path = root.dataset.path;
const DAY = 86400;
const FRAMES_A_SECOND = 8;
const SVG = "http://www.w3.org/2000/svg";

let svg = frame.querySelector("svg");
let whole = null; // The part of the picture that has the sky, without title and legend.
let view = null;
let time = Number(moment.value) * DAY;
let follows = !new URLSearchParams(location.search).has("t") && !new URLSearchParams(location.search).has("days");
let chosen = document.querySelector("[data-body-link][aria-current]")?.dataset.bodyLink ?? null;

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();
function textWidth(text, isBold) {
  const key = (isBold ? "b" : "n") + text;
  if (!widths.has(key)) {
    ruler.font = `${isBold ? "600 " : ""}12px system-ui, sans-serif`;
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

// The picture.

function measureWhole() {
  const panels = [...svg.querySelectorAll(":scope > svg")].map((panel) => ({
    x: panel.x.baseVal.value, y: panel.y.baseVal.value, w: panel.width.baseVal.value, h: panel.height.baseVal.value,
  }));
  if (panels.length === 0) return null;
  const x = Math.min(...panels.map((panel) => panel.x));
  const y = Math.min(...panels.map((panel) => panel.y));
  return {
    x, y,
    w: Math.max(...panels.map((panel) => panel.x + panel.w)) - x,
    h: Math.max(...panels.map((panel) => panel.y + panel.h)) - y,
  };
}

function showPicture(picture) {
  if (picture !== svg) { svg.replaceWith(picture); svg = picture; }
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  const next = measureWhole();
  if (!next) return;
  if (!view || !whole || Math.abs(next.h - whole.h) > 1) view = { ...next };
  whole = next;
  svg.querySelector(".body-names")?.setAttribute("visibility", "hidden");
  draw();
}

function bodies() {
  return [...svg.querySelectorAll("g.body")].map((group) => ({
    group, id: group.dataset.body, name: group.dataset.name.trim(),
    x: Number(group.dataset.x), y: Number(group.dataset.y), r: Number(group.dataset.r),
  }));
}

function draw() {
  if (!view) return;
  svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  frame.classList.toggle("is-zoomed", view.w < whole.w * 0.99);
  placeNames();
}

// Places the names: in one size at every zoom, and so that none covers another. The largest bodies get their places first.
function placeNames() {
  svg.querySelector(".placed-names")?.remove();
  const scale = svg.clientWidth / view.w || 1;
  const onScreen = (body) => ({ x: (body.x - view.x) * scale, y: (body.y - view.y) * scale, r: Math.max(body.r * scale, 3) });
  const width = svg.clientWidth, height = view.h * scale;
  for (const text of svg.querySelectorAll(".region-names text")) {
    text.setAttribute("font-size", 11 / scale);
    text.setAttribute("stroke-width", 3 / scale);
  }
  const all = bodies().map((body) => ({ ...body, at: onScreen(body) }));
  const taken = all.map(({ at }) => ({ l: at.x - at.r, t: at.y - at.r, r: at.x + at.r, b: at.y + at.r }));
  all.sort((one, other) => (other.id === chosen) - (one.id === chosen) || other.r - one.r);
  const layer = document.createElementNS(SVG, "g");
  layer.setAttribute("class", "placed-names");
  layer.setAttribute("aria-hidden", "true");
  const overlaps = (box) => taken.some((other) => box.l < other.r && box.r > other.l && box.t < other.b && box.b > other.t);
  for (const body of all) {
    const { x, y, r } = body.at;
    body.group.classList.toggle("is-chosen", body.id === chosen);
    if (x < 0 || y < 0 || x > width || y > height) continue;
    if (body.id === chosen) layer.append(ring(body, scale));
    if (!body.name) continue;
    const isChosen = body.id === chosen;
    const name = body.name.length > 28 ? `${body.name.slice(0, 27)}…` : body.name;
    const w = textWidth(name, isChosen);
    const spots = [[x + r + 4, y - 7], [x - r - 4 - w, y - 7], [x - w / 2, y - r - 17], [x - w / 2, y + r + 3], [x + r + 2, y - r - 14], [x + r + 2, y + r], [x - r - w - 2, y - r - 14], [x - r - w - 2, y + r]];
    const fits = ([l, t]) => l >= 2 && t >= 2 && l + w <= width - 2 && t + 15 <= height - 2 && !overlaps({ l, t, r: l + w, b: t + 14 });
    const spot = spots.find(fits) ?? (isChosen ? spots[0] : null);
    if (!spot) continue;
    taken.push({ l: spot[0] - 2, t: spot[1] - 1, r: spot[0] + w + 2, b: spot[1] + 15 });
    const text = document.createElementNS(SVG, "text");
    text.setAttribute("x", view.x + spot[0] / scale);
    text.setAttribute("y", view.y + (spot[1] + 11) / scale);
    text.setAttribute("font-size", 12 / scale);
    text.setAttribute("stroke-width", 3 / scale);
    if (isChosen) text.setAttribute("font-weight", "600");
    text.textContent = name;
    layer.append(text);
  }
  svg.append(layer);
}

function ring(body, scale) {
  const circle = document.createElementNS(SVG, "circle");
  circle.setAttribute("class", "chosen-ring");
  circle.setAttribute("cx", body.x);
  circle.setAttribute("cy", body.y);
  circle.setAttribute("r", Math.max(body.r, 3 / scale) + 5 / scale);
  circle.setAttribute("stroke-width", 2 / scale);
  return circle;
}

// Pan and zoom.

function limit(next) {
  const w = Math.min(Math.max(next.w, whole.w / 60), whole.w);
  const h = w * whole.h / whole.w;
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  return { w, h, x: clamp(next.x, whole.x, whole.x + whole.w - w), y: clamp(next.y, whole.y, whole.y + whole.h - h) };
}

function zoom(factor, x = view.x + view.w / 2, y = view.y + view.h / 2) {
  const w = Math.min(Math.max(view.w / factor, whole.w / 60), whole.w);
  const share = w / view.w;
  view = limit({ x: x - (x - view.x) * share, y: y - (y - view.y) * share, w });
  draw();
}

// Keys and buttons zoom with the selected body in the middle.
function zoomAtChosen(factor) {
  const body = bodies().find((known) => known.id === chosen);
  if (body) view = limit({ ...view, x: body.x - view.w / 2, y: body.y - view.h / 2 });
  zoom(factor);
}

function pointOf(event) {
  const box = svg.getBoundingClientRect();
  return { x: view.x + (event.clientX - box.left) / box.width * view.w, y: view.y + (event.clientY - box.top) / box.height * view.h };
}

const fingers = new Map();
let moved = 0;
let pinch = 0;

frame.addEventListener("pointerdown", (event) => {
  if (event.button > 0 || !view) return;
  fingers.set(event.pointerId, event);
  if (fingers.size === 1) moved = 0;
  pinch = 0;
});

addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  fingers.set(event.pointerId, event);
  const scale = view.w / svg.clientWidth;
  if (fingers.size === 2) {
    const [one, other] = [...fingers.values()];
    const apart = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    const middle = pointOf({ clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2 });
    if (pinch > 0) zoom(apart / pinch, middle.x, middle.y);
    pinch = apart;
    moved = 99;
    return;
  }
  const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
  moved += Math.abs(dx) + Math.abs(dy);
  if (moved > 6) {
    frame.setPointerCapture?.(event.pointerId);
    view = limit({ ...view, x: view.x - dx * scale, y: view.y - dy * scale });
    draw();
  }
});

function lift(event) {
  if (!fingers.delete(event.pointerId) || event.type === "pointercancel") return;
  if (moved <= 6 && fingers.size === 0) {
    const at = pointOf(event);
    const reach = 24 * view.w / svg.clientWidth;
    const near = bodies().map((body) => ({ id: body.id, away: Math.hypot(body.x - at.x, body.y - at.y) - body.r }));
    near.sort((one, other) => one.away - other.away);
    if (near.length > 0 && near[0].away < reach) choose(near[0].id);
  }
}
addEventListener("pointerup", lift);
addEventListener("pointercancel", lift);

frame.addEventListener("wheel", (event) => {
  if (!view || !(event.ctrlKey || event.metaKey || document.activeElement === frame)) return;
  event.preventDefault();
  const at = pointOf(event);
  zoom(Math.exp(-event.deltaY * 0.002), at.x, at.y);
}, { passive: false });

for (const button of document.querySelectorAll("[data-zoom]")) {
  button.addEventListener("click", () => {
    if (!view) return;
    if (button.dataset.zoom === "all") { view = { ...whole }; draw(); }
    else zoomAtChosen(button.dataset.zoom === "in" ? 1.6 : 1 / 1.6);
  });
}

const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

frame.addEventListener("keydown", (event) => {
  if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
  const way = DIRECTIONS[event.key];
  if (way && event.shiftKey) view = limit({ ...view, x: view.x + way[0] * view.w / 8, y: view.y + way[1] * view.h / 8 });
  else if (way) chooseTowards(way);
  else if (event.key === "+" || event.key === "=") zoomAtChosen(1.6);
  else if (event.key === "-") zoomAtChosen(1 / 1.6);
  else if (event.key === "0") view = { ...whole };
  else if (event.key === "Enter" && chosen) document.querySelector("#sky-body a, #sky-body summary")?.focus();
  else return;
  event.preventDefault();
  draw();
});

function chooseTowards([dx, dy]) {
  const all = bodies();
  const from = all.find((body) => body.id === chosen);
  if (!from) { all.sort((one, other) => other.r - one.r); if (all[0]) choose(all[0].id); return; }
  let best = null;
  for (const body of all) {
    const [x, y] = [body.x - from.x, body.y - from.y];
    const along = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (body !== from && along > 0.01 && (!best || along + 2 * aside < best.cost)) best = { id: body.id, cost: along + 2 * aside };
  }
  if (best) choose(best.id);
}

// The selected body, and the parts of the page that the server renders for it.

let choiceTimer = 0;

function choose(id) {
  chosen = id;
  const body = bodies().find((known) => known.id === id);
  if (body) {
    const isOut = body.x < view.x || body.y < view.y || body.x > view.x + view.w || body.y > view.y + view.h;
    if (isOut) view = limit({ ...view, x: body.x - view.w / 2, y: body.y - view.h / 2 });
    said.textContent = body.name;
  }
  draw();
  clearTimeout(choiceTimer);
  choiceTimer = setTimeout(refresh, 250);
}

function address() {
  const query = new URLSearchParams();
  if (!follows) query.set("t", String(time));
  if (chosen) query.set("body", chosen);
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

// Whether somebody types in a part of the page, or has typed there what is not sent yet.
function isBusy(part) {
  const isTyping = part.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
  return isTyping || hasUnsentText(part);
}

function showFault(text) {
  fault.textContent = text;
  fault.hidden = !text;
}

// Puts the focus on what had it in the part that was replaced.
function restoreFocus(focused, fresh) {
  if (focused.id) document.getElementById(focused.id)?.focus();
  else if (focused.dataset.bodyLink) fresh.querySelector(`[data-body-link="${CSS.escape(focused.dataset.bodyLink)}"]`)?.focus();
  else [...fresh.querySelectorAll(focused.tagName)].find((one) => one.textContent === focused.textContent)?.focus();
}

// The number of the newest question. An answer to an older one may come later, and is dropped.
let asked = 0;
// Parts that have changed on the server while somebody typed in them: they are replaced once nothing typed would be lost.
const pending = new Set();

async function refresh() {
  const turn = ++asked;
  history.replaceState(null, "", address());
  let answer, text;
  try {
    answer = await fetch(address(), { headers: { "HX-Request": "true" } });
    text = await answer.text();
  } catch {
    if (turn === asked) showFault("The server cannot be reached, so this may be out of date. What you typed is kept.");
    return;
  }
  if (turn !== asked || followSignIn(answer)) return;
  if (answer.status === 404 && chosen) {
    // The selected body was removed. The rest is still shown, and so is what somebody types about it.
    if (isBusy(document.getElementById("sky-body"))) said.textContent = "The body was removed. What you typed is kept.";
    chosen = null;
    draw();
    refresh();
    return;
  }
  if (!answer.ok) {
    const rendered = renderedFault(text, null)?.querySelector(".fault-message");
    showFault(rendered?.textContent ?? "The server cannot answer right now.");
    return;
  }
  showFault("");
  const next = new DOMParser().parseFromString(text, "text/html");
  for (const id of ["sky-body", "sky-bodies", "sky-forms"]) replacePart(id, next.getElementById(id));
}

function replacePart(id, fresh) {
  const old = document.getElementById(id);
  pending.delete(id);
  if (!old || !fresh || old.outerHTML === fresh.outerHTML) return;
  // Whoever selects another body wants to see that one.
  const isSelection = id === "sky-body" && chosen && fresh.dataset.body !== old.dataset.body;
  if (isBusy(old) && !isSelection) {
    pending.add(id);
    // The time of the universe is in an attribute, and goes on meanwhile.
    if (fresh.dataset.now) old.dataset.now = fresh.dataset.now;
    return;
  }
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  unfoldAsBefore(old, fresh);
  old.replaceWith(fresh);
  if (focused) restoreFocus(focused, fresh);
}

// The focus has moved once this event is over.
document.addEventListener("focusout", () => setTimeout(() => {
  if ([...pending].some((id) => !isBusy(document.getElementById(id)))) refresh();
}));

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-body-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(link.dataset.bodyLink);
});

// Time.

async function pictures(from, step, frames) {
  const answer = await fetch(`${path}/map?t=${from}&step=${step}&frames=${frames}`, { headers: { "HX-Request": "true" } });
  if (!answer.ok) {
    followSignIn(answer);
    throw new Error("no picture");
  }
  const drawn = new DOMParser().parseFromString(await answer.text(), "text/html");
  return [...drawn.querySelectorAll(".frame")].map((one) => ({ t: Number(one.dataset.t), svg: document.importNode(one.querySelector("svg"), true) }));
}

function showTime() {
  const day = Math.round(time / DAY * 10) / 10;
  moment.value = String(time / DAY);
  moment.setAttribute("aria-valuetext", `day ${day}`);
  days.value = String(day);
  momentSaid.textContent = follows ? `Now, day ${day}.` : `Day ${day}. Looking changes nothing.`;
}

const CANNOT_DRAW = "The map cannot be drawn right now.";

// The number of the newest question for the picture of one moment: an older answer is not shown over a newer picture.
let askedPicture = 0;

async function showExactPicture() {
  const turn = ++askedPicture;
  const [exact] = await pictures(time, 0, 1);
  if (turn === askedPicture && !timer) showPicture(exact.svg);
}

// While the slider moves, the nearest of some pictures that were requested at once is shown; when it stops, the exact one.
let strip = null;

async function loadStrip() {
  if (strip) return;
  const own = [];
  strip = own;
  const [low, high] = [Number(moment.min) * DAY, Number(moment.max) * DAY];
  let drawn = null;
  try { drawn = await pictures(low, (high - low) / 23, 24); } catch { /* Then the exact picture alone is shown. */ }
  // The universe may have changed meanwhile.
  if (strip === own) strip = drawn;
}

let momentTimer = 0;

moment.addEventListener("pointerdown", loadStrip);
moment.addEventListener("input", () => {
  stop();
  follows = false;
  time = Number(moment.value) * DAY;
  showTime();
  if (strip?.length) {
    const near = strip.reduce((best, one) => (Math.abs(one.t - time) < Math.abs(best.t - time) ? one : best));
    showPicture(near.svg.cloneNode(true));
  }
  askedPicture += 1;
  clearTimeout(momentTimer);
  momentTimer = setTimeout(showMoment, 300);
});

async function showMoment() {
  try { await showExactPicture(); } catch { momentSaid.textContent = CANNOT_DRAW; }
  await refresh();
}

let queue = [];
let timer = 0;
let loading = false;

async function fill() {
  if (loading || queue.length > FRAMES_A_SECOND) return;
  loading = true;
  const step = Number(speed.value) * DAY / FRAMES_A_SECOND;
  const from = (queue.length ? queue[queue.length - 1].t : time) + step;
  const own = queue;
  try {
    const more = await pictures(from, step, 16);
    // Pictures of another speed do not belong into the queue of this one.
    if (timer && own === queue) queue.push(...more);
  } catch {
    stop();
    momentSaid.textContent = CANNOT_DRAW;
  }
  loading = false;
}

function start() {
  follows = false;
  queue = [];
  play.setAttribute("aria-pressed", "true");
  play.textContent = "Pause";
  timer = setInterval(() => {
    fill();
    const next = queue.shift();
    if (!next) return;
    time = next.t;
    if (time / DAY > Number(moment.max)) moment.max = String(time / DAY);
    showTime();
    showPicture(next.svg);
  }, 1000 / FRAMES_A_SECOND);
  fill();
}

function stop() {
  if (!timer) return;
  clearInterval(timer);
  timer = 0;
  queue = [];
  play.setAttribute("aria-pressed", "false");
  play.textContent = "Play";
  refresh();
}

play.addEventListener("click", () => (timer ? stop() : start()));
speed.addEventListener("change", () => { queue = []; });

// Changes by others.

async function changed() {
  strip = null;
  await refresh();
  if (timer) return;
  if (follows) time = Number(document.getElementById("sky-body").dataset.now);
  showTime();
  try { await showExactPicture(); } catch { momentSaid.textContent = CANNOT_DRAW; }
}

// Also when it opens: something may have changed since the server rendered the page.
openStream(root.dataset.live, { onOpen: changed, onEvent: ({ name }) => { if (name === "changed") changed(); } });
addEventListener("resize", draw);

frame.classList.add("is-live");
for (const tools of document.querySelectorAll("[data-map-tools], [data-time-tools]")) tools.hidden = false;
showPicture(svg);
