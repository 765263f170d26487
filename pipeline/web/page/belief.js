// What is believed now: the first identity, how sure, and the rest; and its correction by hand.

import * as api from "./api.js";
import { emptyState, openForm, toast } from "./dialogs.js";
import { badge, field, h, own, told } from "./dom.js";
import { named, percent, short } from "./formats.js";
import { FIELDS } from "./lanes.js";
import { counted, t } from "./words.js";

/** The memory of `entry` in words; null: nothing is believed yet. */
export function belief(entry) {
  if (!entry) return emptyState(t("nothingBelieved"), t("nothingBelievedMore"));
  const score = entry.conversationAnalysis.confidenceScore;
  const [first, ...others] = entry.identities;
  return h(
    "div",
    { class: "belief", "data-testid": "belief" },
    h(
      "div",
      { class: "belief-head" },
      h("p", { class: "belief-name", dir: "auto" }, first ? own(first.name) : t("nobody"), first && badge(t(first.origin), first.origin)),
      h("p", { class: "belief-score" }, h("span", {}, t("confidence")), h("strong", {}, percent(score)), levelBadge(entry)),
      meter(score),
    ),
    entry.userOverview && h("p", { class: "overview", dir: "auto" }, entry.userOverview),
    h(
      "dl",
      { class: "facts" },
      others.length > 0 && line(t("identities"), others.map((identity) => identityChip(identity))),
      entry.characteristics.length > 0 && line(t("characteristics"), entry.characteristics.map((each) => badge(each.name))),
      entry.deniedIdentities.length > 0 && line(t("denied"), entry.deniedIdentities.map((name) => deniedChip(name))),
      preferences(entry).length > 0 && line(t("preferences"), preferences(entry)),
    ),
  );
}

const line = (name, values) => h("div", {}, h("dt", {}, name), h("dd", { class: "chips" }, values));

export function levelBadge(entry) {
  const level = entry.identifiedRole.confidenceLevel;
  return badge(t(level), `level-${level}`);
}

export function identityChip(identity, note = null) {
  const about = `${t(identity.origin)} · ${counted("support", identity.support)}`;
  return h("span", { class: `badge ${identity.origin}` }, identity.name, h("small", {}, about), note && h("small", { class: "note" }, note));
}

export function deniedChip(name, note = null) {
  return h("span", { class: "badge denied" }, h("s", {}, name), note && h("small", {}, note));
}

/** The preferences that are known, as badges. */
export function preferences(entry) {
  return FIELDS.filter((name) => entry.communicationPreferences[name]).map((name) => {
    const origin = entry.preferenceOrigins?.[name];
    return h("span", { class: "badge" }, `${t(name)}: ${t(entry.communicationPreferences[name])}`, origin && h("small", {}, t(origin)));
  });
}

function meter(score) {
  const bar = h("span");
  bar.style.width = `${score * 100}%`;
  return h("div", { class: "meter", "aria-hidden": "true" }, bar);
}

const MOST_NAMES = { identities: 5, denies: 10 };
const LONGEST_NAME = 80;

/** Asks who the user is and is not, and commands it. */
export function openCorrection(session, user, entry, done) {
  const is = h("input", { name: "identities", autocomplete: "off", "data-testid": "is" });
  const isNot = h("input", { name: "denies", autocomplete: "off", list: "known-identities", "data-testid": "is-not" });
  const known = h("datalist", { id: "known-identities" }, (entry?.identities ?? []).map((identity) => h("option", { value: identity.name })));
  openForm({
    title: t("correctTitle"),
    fields: [field(t("correctIs"), is, t("correctHint")), field(t("correctIsNot"), isNot, t("correctHint")), known],
    submit: t("save"),
    check: () => wrongNames(is) ?? wrongNames(isNot) ?? wrongTogether(is, isNot),
    send: async (values) => {
      const body = { identities: named(values.identities), denies: named(values.denies) };
      if (entry) Object.assign(body, { turn: entry.turn, corrections: Math.max(entry.correctionCount ?? 0, entry.corrections.length) });
      const { code } = await api.correct(session, user, body);
      toast(t(code === 202 ? "pending" : "corrected"));
      done();
    },
    testid: "correct-dialog",
  });
}

function wrongNames(control) {
  const names = named(control.value);
  const long = names.find((name) => [...name].length > LONGEST_NAME);
  if (long) return [control, told("nameTooLong", { name: short(long), n: LONGEST_NAME })];
  const most = MOST_NAMES[control.name];
  return names.length > most ? [control, t("tooMany", { n: most })] : null;
}

function wrongTogether(is, isNot) {
  const plain = (name) => name.normalize("NFKC").toLowerCase();
  const [ares, nots] = [named(is.value), named(isNot.value)];
  if (!ares.length && !nots.length) return [is, t("correctNeeded")];
  const both = nots.find((name) => ares.some((other) => plain(other) === plain(name)));
  return both ? [isNot, told("inBoth", { name: both })] : null;
}
