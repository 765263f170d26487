// Builds elements. Data reaches the page as text nodes and attributes alone, never as markup.

import { isWord, pieces, t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...kept(children));
  return node;
}

function kept(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** An HTML element; `onclick` and the like are listeners, null and false are left out. */
export function h(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/** Words that are not the page's: letters that run the other way turn nothing around them. */
export const own = (words) => h("bdi", {}, words);

/** The same for where there are no elements: in a title. */
export const isolated = (words) => `\u2068${words}\u2069`;

/** What `t` says, with each value as somebody's own words. */
export const told = (key, values) => pieces(key, values).map((piece, place) => (place % 2 ? own(piece) : piece));

/** A sentence of the server's, which speaks English. */
export const english = (sentence) => h("span", { lang: "en", dir: "ltr" }, sentence);

/** The server's sentences about a field that the page has words for; a number in one is `n`. */
const KNOWN_FAULTS = [
  [/^String should have at most (\d+) character/, "tooLong"],
  [/^List should have at most (\d+) item/, "tooMany"],
  [/^String should have at least 1 character/, "needed"],
];

/** What is wrong with a field, in the page's words or, after a lead in its language, in the server's. */
export function fault(sentence) {
  const known = KNOWN_FAULTS.map(([pattern, key]) => [pattern.exec(sentence), key]).find(([match]) => match);
  return known ? t(known[1], { n: known[0][1] }) : after(t("fault_422"), english(sentence));
}

/** A sentence of the server's after a lead, which there is in some languages alone. */
export const after = (lead, sentence) => [lead, lead && " ", sentence];

/** What an error says: a lead in the language of the page before a sentence of the server's. */
export function explained(error) {
  if (!error.isServers) return error.words ?? error.message;
  if (Array.isArray(error.data)) {
    const sentences = new Set(error.data.map(({ message }) => message));
    return [...sentences].map((sentence, place) => [place > 0 && " ", fault(sentence)]);
  }
  return after(isWord(`fault_${error.code}`) ? t(`fault_${error.code}`) : t("unexpected", { code: error.code }), english(error.message));
}

export function fill(node, ...children) {
  node.replaceChildren(...kept(children));
  return node;
}

/** What stands now where `node` stood before its panel was drawn anew, or null. */
export function twin(node) {
  const alike = [...document.querySelectorAll(`[data-testid="${node.dataset.testid}"]`)];
  return alike.find((other) => other.getAttribute("aria-label") === node.getAttribute("aria-label")) ?? null;
}

/** Draws, and leaves the focus on the twin of what had it. */
export function keepingFocus(draw) {
  const focused = document.activeElement;
  draw();
  if (document.activeElement !== focused) (focused.isConnected ? focused : twin(focused))?.focus({ preventScroll: true });
}

export const byId = (id) => document.getElementById(id);

export function button(text, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, text);
}

export function badge(text, kind = "") {
  return h("span", { class: `badge ${kind}`.trim() }, text);
}

/** What each control's place says while nothing is wrong with it. */
const hints = new WeakMap();

/** A labelled control; `hint` is tied to it, and so is the place for what is wrong with it. */
export function field(label, control, hint = "") {
  control.id ||= `field-${(field.count = (field.count ?? 0) + 1)}`;
  const about = h("p", { class: "hint", id: `${control.id}-about` }, hint);
  control.setAttribute("aria-describedby", about.id);
  hints.set(control, hint);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, about);
}

/** Marks a control of `field` as wrong, or as right again where `message` is empty. */
export function complain(control, message) {
  const about = byId(`${control.id}-about`);
  if (message) control.setAttribute("aria-invalid", "true");
  else control.removeAttribute("aria-invalid");
  about.classList.toggle("wrong", Boolean(message));
  fill(about, message || hints.get(control));
}
