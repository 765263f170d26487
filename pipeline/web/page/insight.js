// The summary of the conversation, the profile of the user, and the guidance on demand.

import * as api from "./api.js";
import { failedState, skeleton } from "./dialogs.js";
import { byId, fill, h } from "./dom.js";
import { moment } from "./formats.js";
import { FIELDS } from "./lanes.js";
import { t } from "./words.js";

/** Shows the three cards, or brings them up to date. */
export function showInsight(session, user, signal) {
  const root = byId("insight");
  if (!root.hasChildNodes()) fill(root, card("summary"), card("profile"), guidanceCard());
  load("summary", () => api.summary(session, user), summary, signal);
  load("profile", () => api.profile(user), profile, signal);
  const details = root.querySelector("details");
  details.ontoggle = () => details.open && load("guidance", () => api.guidance(session, user), guidance, signal);
  details.ontoggle();
}

function card(name) {
  return h("section", { class: "card", "data-testid": name }, h("h3", {}, t(name)), h("div", { id: `${name}-body` }));
}

function guidanceCard() {
  return h("details", { class: "card", "data-testid": "guidance" }, h("summary", {}, h("h3", {}, t("guidance"))), h("div", { id: "guidance-body" }));
}

async function load(name, read, show, signal) {
  const body = byId(`${name}-body`);
  if (!body.hasChildNodes()) fill(body, skeleton(2));
  try {
    const { data } = await read();
    if (!signal.aborted) fill(body, show(data));
  } catch (error) {
    if (signal.aborted) return;
    // A conversation that is about to begin does not exist yet.
    fill(body, error.code === 404 ? show(null) : failedState(error, () => fill(body) && load(name, read, show, signal)));
  }
}

function facts(pairs) {
  const known = pairs.filter(([, value]) => value);
  return h("dl", { class: "facts" }, known.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

function summary(said) {
  const parts = ["target", "blocker", "suggestion", "nextStep"];
  if (!said) return h("p", { class: "hint" }, t("noSummary"));
  const until = [t("upToTurn", { n: said.turn }), said.updateTime && moment(said.updateTime)].filter(Boolean).join(" · ");
  const shown = parts.some((part) => said[part]) ? facts(parts.map((part) => [t(part), said[part]])) : h("p", {}, t("emptySummary"));
  return [shown, h("p", { class: "hint" }, until)];
}

function profile(known) {
  const preferences = Object.entries(known?.preferences ?? {});
  if (!known || !(known.skill || known.target || preferences.length)) return h("p", { class: "hint" }, t("noProfile"));
  const named = preferences.map(([name, value]) => (FIELDS.includes(name) ? [t(name), t(value)] : [name, value]));
  return [facts([[t("skill"), known.skill], [t("target"), known.target], ...named]), h("p", { class: "hint" }, moment(known.updateTime))];
}

function guidance(issued) {
  if (!issued?.text) return h("p", { class: "hint" }, t("noGuidance"));
  const told = h("pre", { dir: "auto", tabindex: 0, role: "group", "aria-label": t("guidance") }, issued.text);
  return [h("p", { class: "hint" }, t("turn", { n: issued.turn })), told];
}
