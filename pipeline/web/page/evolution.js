// Draws the evolution of the role: confidence, identities and preferences over turns, one button a turn.

import { button, h, s } from "./dom.js";
import { list, percent } from "./formats.js";
import { FIELDS, leader, moves, rows, spans, stays } from "./lanes.js";
import { legend } from "./legend.js";
import { shape } from "./marks.js";
import { t } from "./words.js";

const COLUMN = 56;
const TOP = 26;
const PLOT = 150;
const GAP = 14;
const LANE = 32;
const CHIP = 28;
/** The most room, in pixels, that is kept free for a name; it takes more where there is more. */
const LONGEST_NAME = 190;
/** A shorter piece of a name says nothing. */
const SHORTEST_NAME = 22;
/** Pixels between a name that stays in sight and the edge. */
const EDGE = 6;
/** The levels of confidence: from, to. */
const LEVELS = [["LOW", 0, 0.5], ["MEDIUM", 0.5, 0.7], ["MEDIUM_HIGH", 0.7, 0.8], ["HIGH", 0.8, 1]];

const heightOf = (confidence) => TOP + (1 - confidence) * PLOT;
const middle = (at) => at * COLUMN + COLUMN / 2;
const pen = document.createElement("canvas").getContext("2d");
/** How wide a name is, in pixels. */
const lengthOf = (name) => Math.ceil(pen.measureText(name).width);
const roomOf = (name) => Math.min(LONGEST_NAME, lengthOf(name)) + 12;

/**
 * The whole picture; `open(turn)` opens a point, `earlier` loads older turns or is null. It is scrolled so that
 * `beyond` pixels are right of what is seen.
 */
export function evolution(entries, open, earlier, beyond = 0) {
  pen.font = `650 12px ${getComputedStyle(document.body).fontFamily}`;
  const all = stays(entries);
  const lanes = rows(all, (stay) => Math.ceil(roomOf(stay.name) / COLUMN));
  const laneTop = TOP + PLOT + GAP;
  const chipTop = laneTop + Math.max(lanes.length, 1) * LANE + GAP;
  const chosen = FIELDS.flatMap((field, at) => chips(entries, field, chipTop + at * CHIP));
  const height = chipTop + FIELDS.length * CHIP + 4;
  const width = Math.max(entries.length * COLUMN, ...all.map((stay) => stay.from * COLUMN + roomOf(stay.name)));
  const drawing = s(
    "svg",
    { class: "plot", height, "aria-hidden": "true" },
    patterns(),
    bands(),
    moves(entries).map((at) => s("line", { class: "move", x1: at * COLUMN, x2: at * COLUMN, y1: TOP, y2: chipTop - GAP / 2 })),
    confidenceLine(entries),
    lanes.flatMap((row, at) => row.map((stay) => stayBar(stay, laneTop + at * LANE))),
    chosen.map((chip) => chip.drawn),
    entries.map((entry, at) => [
      s("text", { class: "tick", x: middle(at), y: 15, "text-anchor": "middle" }, entry.turn),
      shape(entry.decision, middle(at), heightOf(entry.conversationAnalysis.confidenceScore)),
    ]),
  );
  const columns = h("div", { class: "columns", role: "group", "aria-label": t("pictureLabel") }, entries.map((entry, at) => column(entry, at, open)));
  columns.addEventListener("keydown", (event) => step(event, columns));
  const names = lanes.flatMap((row, at) =>
    row.map((stay, place) => stayLabel(stay, row[place + 1] ? `${row[place + 1].from * COLUMN}px` : "100%", laneTop + at * LANE)),
  );
  const labels = h("div", { class: "labels", "aria-hidden": "true" }, names, chosen.map((chip) => chip.said));
  const sheet = h("div", { class: "sheet" }, drawing, labels, columns);
  sheet.style.width = `${width}px`;
  const scroller = h("div", { class: "scroller" }, sheet);
  place(scroller, beyond, [...labels.children]);
  return h(
    "div",
    { class: "picture", "data-testid": "picture" },
    earlier && button(t("earlierTurns"), earlier, { class: "quiet", "data-testid": "earlier-turns" }),
    h("div", { class: "frame" }, gutter(height, laneTop, chipTop), scroller),
    legend(),
  );
}

/** Scrolls once the picture has a size: on a phone it may be drawn while another view is shown. */
function place(scroller, beyond, labels) {
  let isPlaced = false;
  const watch = new ResizeObserver(() => {
    if (!scroller.clientWidth) return;
    if (!isPlaced) scroller.scrollLeft = scroller.scrollWidth - scroller.clientWidth - beyond;
    isPlaced = true;
    fit(scroller, labels);
  });
  watch.observe(scroller);
  scroller.addEventListener("scroll", () => fit(scroller, labels), { passive: true });
}

/** Keeps each label within what is seen of its place: it is shortened there, and does not run into the next one. */
function fit(scroller, labels) {
  const { scrollLeft, clientWidth } = scroller;
  const places = labels.map((node) => ({ node, left: node.offsetLeft, width: node.offsetWidth }));
  for (const { node, left, width } of places) {
    const seen = Math.min(left + width - Math.max(left, scrollLeft + EDGE), clientWidth - 2 * EDGE);
    node.firstChild.style.maxWidth = `${Math.max(0, seen)}px`;
    node.firstChild.style.visibility = seen < Math.min(width, SHORTEST_NAME) ? "hidden" : "";
  }
}

function column(entry, at, open) {
  const score = entry.conversationAnalysis.confidenceScore;
  const label = t("pointLabel", {
    n: entry.turn,
    decision: t(entry.decision),
    confidence: percent(score),
    level: t(entry.identifiedRole.confidenceLevel),
    identities: leader(entry) ? list(entry.identities.map((identity) => identity.name)) : t("nobody"),
  });
  return h("button", {
    type: "button",
    class: "column",
    "data-testid": "point",
    "data-turn": entry.turn,
    "data-decision": entry.decision,
    "aria-label": label,
    title: label,
    tabindex: at === 0 ? 0 : -1,
    onclick: () => open(entry.turn),
    onfocus: (event) => rove(event.currentTarget),
  });
}

function rove(node) {
  for (const other of node.parentNode.children) other.tabIndex = other === node ? 0 : -1;
  node.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function step(event, columns) {
  const all = [...columns.children];
  const at = all.indexOf(document.activeElement);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined || !all[to]) return;
  event.preventDefault();
  all[to].focus();
}

function patterns() {
  const stripes = (name) =>
    s(
      "pattern",
      { id: name, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      s("rect", { class: `${name}-ground`, width: 6, height: 6 }),
      s("rect", { class: `${name}-stripe`, width: 3, height: 6 }),
    );
  return s("defs", {}, stripes("lead"), stripes("other"));
}

function bands() {
  return LEVELS.map(([level, from, to]) =>
    s("rect", { class: `band band-${level}`, x: 0, width: "100%", y: heightOf(to), height: (to - from) * PLOT }),
  );
}

function confidenceLine(entries) {
  const points = entries.map((entry, at) => `${middle(at)} ${heightOf(entry.conversationAnalysis.confidenceScore).toFixed(1)}`);
  return s("path", { class: "line", d: `M${points.join("L")}` });
}

function stayBar(stay, top) {
  return stay.pieces.map(({ from, to, leads, origin }) => {
    const thick = leads ? 10 : 5;
    const left = from * COLUMN + (from === stay.from ? 4 : 0);
    const right = (to + 1) * COLUMN - (to === stay.to ? 4 : 0);
    return s("rect", { class: `stay ${leads ? "lead" : "other"}-${origin}`, x: left, width: right - left, y: top + 18 + (10 - thick) / 2, height: thick, rx: 2 });
  });
}

/** The name of a stay, which may run on up to `end`. */
function stayLabel(stay, end, top) {
  const left = stay.from * COLUMN + 4;
  const width = `max(${(stay.to - stay.from + 1) * COLUMN - 8}px, min(${lengthOf(stay.name) + 1}px, ${end} - ${left + 8}px))`;
  return label(stay.pieces.at(-1).leads ? "name leads" : "name", stay.name, left, width, top - 1);
}

/** The chips of a preference, each as its drawing and its words. */
function chips(entries, field, top) {
  return spans(entries, field).map(({ value, origin, from, to }) => {
    const place = { x: from * COLUMN + 2, width: (to - from + 1) * COLUMN - 4 };
    const drawn = s("g", { class: `chip chip-${origin}` }, s("rect", { ...place, y: top + 2, height: CHIP - 6, rx: 6 }));
    return { drawn, said: label("chip-name", t(value), place.x + 6, `${place.width - 8}px`, top + 4) };
  });
}

/** Words over the drawing, which stay in sight as far as their place reaches. */
function label(kind, text, left, width, top) {
  const node = h("span", { class: `label ${kind}` }, h("span", {}, text));
  Object.assign(node.style, { left: `${left}px`, width, top: `${top}px` });
  return node;
}

function gutter(height, laneTop, chipTop) {
  const text = (words, y, kind = "") => s("text", { class: `gutter-text ${kind}`, x: 84, y, "text-anchor": "end" }, words);
  return s(
    "svg",
    { class: "gutter", width: 90, height, "aria-hidden": "true" },
    text(t("confidence"), 15, "strong"),
    LEVELS.map(([level, from, to]) => text(t(level), heightOf((from + to) / 2) + 4)),
    text(t("identities"), laneTop + 14, "strong"),
    FIELDS.map((field, at) => text(t(field), chipTop + at * CHIP + CHIP / 2 + 3, "strong")),
  );
}
