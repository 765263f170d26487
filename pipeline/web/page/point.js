// One turn of the track in a dialog: the question with its evidence, the extraction, the decision, the cost.

import { deniedChip, identityChip, levelBadge, preferences } from "./belief.js";
import { open } from "./dialogs.js";
import { after, badge, button, english, h, own, told } from "./dom.js";
import { duration, listed, moment, number, percent } from "./formats.js";
import { FIELDS } from "./lanes.js";
import { mark } from "./marks.js";
import { foldable } from "./talk.js";
import { t } from "./words.js";

/** Opens a turn of `entries`; what its answer cost is with its message. */
export function openPoint(turn, { entries, messages }) {
  const around = (which) => {
    const at = entries.findIndex((entry) => entry.turn === which);
    const [before, entry] = [entries[at - 1] ?? null, entries[at]];
    return { entry, before, answerCost: answerCost(entry, messages), previous: before?.turn ?? null, next: entries[at + 1]?.turn ?? null };
  };
  const content = h("div", { class: "point" });
  const earlier = button("‹", () => show(shown.previous), { class: "quiet", "aria-label": t("previous"), "data-testid": "previous" });
  const later = button("›", () => show(shown.next), { class: "quiet", "aria-label": t("next"), "data-testid": "next" });
  let shown;
  const dialog = open("", content, { wide: true, testid: "point-dialog", actions: [earlier, later] });
  const show = (which) => {
    shown = around(which);
    dialog.querySelector("h2").textContent = t("turn", { n: which });
    earlier.disabled = shown.previous === null;
    later.disabled = shown.next === null;
    content.replaceChildren(...sections(shown));
    content.parentNode.scrollTop = 0;
    if (document.activeElement.matches(":disabled")) content.parentNode.focus();
  };
  show(turn);
}

function answerCost(entry, messages) {
  const isAnswer = ({ messageType, metadata }) => messageType === "ASSISTANT" && metadata.questionId === entry.questionId;
  return messages.find(isAnswer)?.metadata.cost;
}

function sections({ entry, before, answerCost }) {
  const score = entry.conversationAnalysis.confidenceScore;
  return [
    section(t("question"), h("div", { class: "quoted" }, markedQuestion(entry)), evidence(entry), h("p", { class: "hint" }, moment(entry.createTime))),
    section(
      t("decision"),
      h("p", { class: "verdict" }, mark(entry.decision), h("strong", {}, t(entry.decision)), h("code", {}, entry.decision)),
      h("p", { class: "reason", "data-testid": "reason" }, after(t("reasonLead"), english(entry.reason))),
      facts([
        [t("identityDecision"), t(entry.identityDecision)],
        [t("similarity"), entry.similarity === null ? t("nothingToCompare") : number(entry.similarity)],
        [t("confidence"), [moved(before, score), levelBadge(entry)]],
      ]),
    ),
    section(t("extraction"), entry.extraction ? extraction(entry.extraction) : h("p", { class: "hint" }, t("noExtraction"))),
    section(t("memoryAfter"), memoryAfter(entry, before)),
    section(t("cost"), costs([[t("learning"), entry.cost], [t("answer"), answerCost]])),
  ];
}

const section = (title, ...content) => h("section", {}, h("h3", {}, title), content);

function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null);
  return h("dl", { class: "facts" }, known.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { class: "chips" }, value))));
}

const chips = (names, chip = (name) => badge(name)) => (names.length ? names.map((name) => chip(name)) : null);

function moved(before, score) {
  return before ? `${percent(before.conversationAnalysis.confidenceScore)} → ${percent(score)}` : percent(score);
}

/** The question with the quoted words in <mark>. */
function markedQuestion(entry) {
  const text = entry.userQuery;
  const quotes = entry.extraction?.evidence ?? [];
  const ranges = quotes.map(({ quote }) => [found(text, quote), quote.length]).filter(([at]) => at >= 0);
  const parts = [];
  let done = 0;
  for (const [from, to] of joined(ranges.map(([at, length]) => [at, at + length]))) {
    parts.push(text.slice(done, from), h("mark", {}, text.slice(from, to)));
    done = to;
  }
  parts.push(text.slice(done));
  const shown = foldable(text);
  const words = Array.isArray(shown) ? shown[0] : shown;
  words.replaceChildren(...parts);
  return shown;
}

function found(text, quote) {
  const exact = text.indexOf(quote);
  return exact >= 0 ? exact : text.toLowerCase().indexOf(quote.toLowerCase());
}

function joined(ranges) {
  const merged = [];
  for (const [from, to] of ranges.sort((one, other) => one[0] - other[0])) {
    if (merged.length && from <= merged.at(-1)[1]) merged.at(-1)[1] = Math.max(merged.at(-1)[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

function evidence(entry) {
  const quotes = entry.extraction?.evidence ?? [];
  if (!quotes.length) return h("p", { class: "hint" }, t("noEvidence"));
  return h(
    "ul",
    { class: "evidence", "aria-label": t("evidence") },
    quotes.map(({ quote, supports }) => h("li", { dir: "auto" }, h("q", {}, own(quote)), " ", h("small", {}, bearing(supports, entry.extraction.denies)))),
  );
}

/** What words speak for, and what they speak against. */
function bearing(supports, denies) {
  const sides = [
    ["supports", supports.filter((name) => !denies.includes(name))],
    ["speaksAgainst", supports.filter((name) => denies.includes(name))],
  ];
  const said = sides.filter(([, names]) => names.length).map(([side, names]) => told(side, { names: listed(names) }));
  return said.map((words, at) => [at > 0 && " · ", words]);
}

function extraction(found) {
  const asked = FIELDS.filter((name) => found.preferences[name]).map((name) => {
    const scope = found.preferenceScopes[name];
    return h("span", { class: "badge" }, `${t(name)}: ${t(found.preferences[name])}`, scope && h("small", {}, t(`scope_${scope}`)));
  });
  return facts([
    [t("identities"), chips(found.identities) ?? t("none")],
    [t("states"), chips(found.states, (name) => badge(name, "stated"))],
    [t("denies"), chips(found.denies, deniedChip)],
    [t("characteristics"), chips(found.characteristics)],
    [t("preferences"), asked.length ? asked : null],
    [t("score"), number(found.score)],
    [t("overview"), found.overview || null],
  ]);
}

function memoryAfter(entry, before) {
  const had = new Set((before?.identities ?? []).map((identity) => identity.name));
  const has = new Set(entry.identities.map((identity) => identity.name));
  const gone = [...had].filter((name) => !has.has(name)).map((name) => deniedChip(name, t("left")));
  const present = entry.identities.map((identity, rank) => identityChip(identity, had.has(identity.name) ? (rank === 0 ? t("leads") : null) : t("entered")));
  const known = preferences(entry);
  return facts([
    [t("identities"), present.length + gone.length ? [present, gone] : t("none")],
    [t("denied"), chips(entry.deniedIdentities, deniedChip)],
    [t("characteristics"), chips(entry.characteristics.map((each) => each.name))],
    [t("preferences"), known.length ? known : null],
    [t("overview"), entry.userOverview || null],
  ]);
}

function costs(rows) {
  const heads = ["", t("model"), t("calls"), t("tokensIn"), t("tokensOut"), t("time")];
  const cells = (cost) => [cost.model, number(cost.calls), number(cost.promptTokens), number(cost.completionTokens), duration(cost.milliseconds)];
  const line = ([name, cost]) => h("tr", {}, h("th", { scope: "row" }, name), cells(cost).map((value) => h("td", {}, value)));
  const head = h("tr", {}, heads.map((name) => (name ? h("th", { scope: "col" }, name) : h("td"))));
  const body = rows.filter(([, cost]) => cost).map(line);
  return h(
    "div",
    { class: "table-wrap", tabindex: 0, role: "group", "aria-label": t("cost") },
    h("table", {}, h("thead", {}, head), h("tbody", {}, body)),
  );
}
