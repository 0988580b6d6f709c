// The graph of the lore: lays out the entries, draws them as SVG with links, and handles dragging, panning and zooming.

import { openStream } from "./stream.js";

const NS = "http://www.w3.org/2000/svg";
const figure = document.querySelector("[data-graph]");
const SIZE = 1000;
const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;

function element(name, attributes, parent) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent?.append(made);
  return made;
}

// One step of the layout by forces: lines pull their ends together, all pairs push apart, all entries are pulled to the middle.
function step(nodes, edges, heat) {
  for (const node of nodes) { node.fx = (SIZE / 2 - node.x) * 0.008; node.fy = (SIZE / 2 - node.y) * 0.016; }
  for (let one = 0; one < nodes.length; one++) {
    for (let other = one + 1; other < nodes.length; other++) {
      const a = nodes[one], b = nodes[other];
      let dx = a.x - b.x, dy = (a.y - b.y) * 1.6;
      const square = Math.max(dx * dx + dy * dy, 60), push = 30000 / square;
      const length = Math.sqrt(square);
      dx /= length; dy /= length;
      a.fx += dx * push; a.fy += dy * push; b.fx -= dx * push; b.fy -= dy * push;
    }
  }
  for (const { a, b } of edges) {
    const dx = b.x - a.x, dy = b.y - a.y, length = Math.max(Math.hypot(dx, dy), 1);
    const pull = (length - 170) * 0.03;
    a.fx += (dx / length) * pull; a.fy += (dy / length) * pull; b.fx -= (dx / length) * pull; b.fy -= (dy / length) * pull;
  }
  for (const node of nodes) {
    if (node.held) continue;
    const force = Math.hypot(node.fx, node.fy), most = Math.min(force, 18 * heat);
    if (force > 0) { node.x += (node.fx / force) * most; node.y += (node.fy / force) * most; }
  }
}

function draw({ nodes, mentions, relationships }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  nodes.forEach((node, at) => {
    // All begin on a spiral, in their order, so that the same lore is always laid out the same.
    const angle = at * 2.39996, radius = 34 * Math.sqrt(at + 1);
    node.x = SIZE / 2 + radius * Math.cos(angle);
    node.y = SIZE / 2 + radius * Math.sin(angle);
    node.degree = 0;
  });
  const edges = [
    ...mentions.map((edge) => ({ ...edge, kind: "mention" })),
    ...relationships.map((edge) => ({ ...edge, kind: "relationship" })),
  ].map((edge) => ({ ...edge, a: byId.get(edge.from), b: byId.get(edge.to) })).filter((edge) => edge.a && edge.b);
  for (const { a, b } of edges) { a.degree++; b.degree++; }
  for (let turn = 0; turn < 320; turn++) step(nodes, edges, 1 - turn / 330);

  const svg = element("svg", { class: "graph-drawing", role: "group", "aria-label": "Entries and what connects them" });
  const lines = element("g", { class: "graph-lines" }, svg);
  const points = element("g", {}, svg);
  for (const edge of edges) {
    edge.line = element("line", { class: `graph-${edge.kind}` }, lines);
    if (edge.label) {
      edge.text = element("text", { class: "graph-label", "text-anchor": "middle" }, lines);
      edge.text.textContent = edge.label;
    }
  }
  for (const node of nodes) {
    node.link = element("a", { href: node.href, class: `graph-node type-${node.type}` }, points);
    element("circle", { r: 6 + Math.min(node.degree, 12), "fill": "currentColor" }, node.link);
    const text = element("text", { "text-anchor": "middle", y: 22 + Math.min(node.degree, 12) }, node.link);
    text.textContent = node.name.length > 28 ? `${node.name.slice(0, 27)}…` : node.name;
    if (node.name.length > 28) element("title", {}, node.link).textContent = node.name;
  }
  const place = () => {
    for (const { a, b, line, text } of edges) {
      line.setAttribute("x1", a.x); line.setAttribute("y1", a.y); line.setAttribute("x2", b.x); line.setAttribute("y2", b.y);
      if (text) { text.setAttribute("x", (a.x + b.x) / 2); text.setAttribute("y", (a.y + b.y) / 2 - 4); }
    }
    for (const node of nodes) node.link.setAttribute("transform", `translate(${node.x} ${node.y})`);
  };
  place();
  figure.replaceChildren(svg);
  look(svg, nodes, edges, place);
}

// Dragging, panning and zooming.
function look(svg, nodes, edges, place) {
  let view, held, heat = 0, moved = false;
  const pointers = new Map();
  const show = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  const all = () => {
    // The box includes the names, which are wider than the points.
    const drawn = svg.getBBox(), room = 30;
    const ratio = svg.clientHeight / Math.max(svg.clientWidth, 1);
    const w = Math.max(drawn.width + 2 * room, (drawn.height + 2 * room) / ratio), h = w * ratio;
    view = { x: drawn.x + (drawn.width - w) / 2, y: drawn.y + (drawn.height - h) / 2, w, h };
    show();
  };
  const zoom = (factor, cx = view.x + view.w / 2, cy = view.y + view.h / 2) => {
    const w = Math.min(Math.max(view.w * factor, 150), 6000), f = w / view.w;
    view = { x: cx - (cx - view.x) * f, y: cy - (cy - view.y) * f, w, h: view.h * f };
    show();
  };
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    return { x: view.x + ((event.clientX - box.left) / box.width) * view.w, y: view.y + ((event.clientY - box.top) / box.height) * view.h };
  };
  const run = () => {
    if (heat <= 0.02) return;
    step(nodes, edges, heat);
    heat *= 0.97;
    place();
    requestAnimationFrame(run);
  };
  all();
  addEventListener("resize", all);
  svg.addEventListener("pointerdown", (event) => {
    const link = event.target.closest("a");
    pointers.set(event.pointerId, at(event));
    moved = false;
    held = nodes.find((node) => node.link === link);
    if (held) held.held = true;
  });
  svg.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = at(event);
    if (!moved && Math.hypot(now.x - before.x, now.y - before.y) < view.w / 200) return;
    if (!moved) svg.setPointerCapture(event.pointerId);
    moved = true;
    if (pointers.size === 2) {
      const [one, other] = [...pointers.entries()].map(([id, point]) => (id === event.pointerId ? now : point));
      const [old, oldOther] = [...pointers.values()];
      const factor = Math.hypot(old.x - oldOther.x, old.y - oldOther.y) / Math.max(Math.hypot(one.x - other.x, one.y - other.y), 1);
      zoom(factor, (one.x + other.x) / 2, (one.y + other.y) / 2);
      pointers.set(event.pointerId, at(event));
    } else if (held) {
      held.x = now.x; held.y = now.y;
      pointers.set(event.pointerId, now);
      if (isCalm) place();
      else if (heat <= 0.02) { heat = 0.35; requestAnimationFrame(run); }
      else heat = 0.35;
    } else {
      view.x -= now.x - before.x; view.y -= now.y - before.y;
      show();
    }
  });
  const release = (event) => {
    pointers.delete(event.pointerId);
    if (held) held.held = false;
    held = undefined;
  };
  svg.addEventListener("pointerup", release);
  svg.addEventListener("pointercancel", release);
  // The end of a drag must not open a link. A click by the keyboard has detail 0, and always opens it.
  svg.addEventListener("click", (event) => { if (moved && event.detail > 0) event.preventDefault(); }, true);
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const point = at(event);
    zoom(event.deltaY > 0 ? 1.15 : 0.87, point.x, point.y);
  }, { passive: false });
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => (button.dataset.zoom === "all" ? all() : zoom(button.dataset.zoom === "in" ? 0.75 : 1.33)));
  }
  // Shows an entry that gets the focus by the keyboard.
  svg.addEventListener("focusin", (event) => {
    const node = nodes.find((one) => one.link === event.target.closest("a"));
    if (!node || !event.target.matches(":focus-visible")) return;
    const isInside = node.x > view.x && node.x < view.x + view.w && node.y > view.y && node.y < view.y + view.h;
    if (!isInside) { view.x = node.x - view.w / 2; view.y = node.y - view.h / 2; show(); }
  });
}

// Offers to draw a changed graph again. Drawing it at once would move what somebody is looking at.
async function offerRedraw(drawn) {
  const answer = await fetch(figure.dataset.graph).catch(() => null);
  if (answer?.ok) document.getElementById("graph-changed").hidden = (await answer.text()) === drawn;
}

if (figure) {
  const answer = await fetch(figure.dataset.graph);
  const text = answer.ok ? await answer.text() : "";
  const graph = text ? JSON.parse(text) : { nodes: [] };
  openStream(figure.dataset.live, { onOpen: () => offerRedraw(text), onEvent: () => offerRedraw(text) });
  if (graph.nodes.length > 0) {
    draw(graph);
    for (const hidden of document.querySelectorAll(".graph-buttons, .graph-help")) hidden.hidden = false;
  }
}
