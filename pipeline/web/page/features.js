// The lasting facts about a user: list, add, edit against a version, delete after a yes, where each comes from.

import * as api from "./api.js";
import { confirm, emptyState, failedState, openForm, skeleton, toast } from "./dialogs.js";
import { badge, button, byId, english, field, fill, h, keepingFocus, own, told } from "./dom.js";
import { day, moment, short } from "./formats.js";
import { FIELDS } from "./lanes.js";
import { t } from "./words.js";

const CATEGORIES = ["PREFERENCE", "PERSONAL_INFO", "HABIT", "OTHER"];
const PAGE = 50;
let status = "current";
/** What is shown: of whom, at most how many, the list as JSON, and each row by its feature as JSON. */
const shown = { user: null, wanted: PAGE, said: "", rows: new Map() };
let reading = 0;

/** Loads the features of `user`, as many as were shown, and shows them; what is the same stays as it is. */
export async function showFeatures(user, mayWrite, signal) {
  const root = byId("features");
  const reload = () => showFeatures(user, mayWrite, signal);
  if (shown.user !== user) Object.assign(shown, { user, wanted: PAGE });
  if (!isDrawn(root)) Object.assign(shown, { said: "", rows: new Map() });
  if (!root.hasChildNodes()) fill(root, skeleton(3));
  const turn = ++reading;
  const isLate = () => signal.aborted || turn !== reading;
  try {
    const known = await readFeatures(user, shown.wanted);
    if (!isLate()) draw(root, known, user, mayWrite, reload);
  } catch (error) {
    if (!isLate()) fill(root, failedState(error, () => fill(root) && reload()));
  }
}

const isDrawn = (root) => Boolean(root.querySelector(":scope > .filter"));

/** The first `wanted` features, and whether there are more. */
async function readFeatures(user, wanted) {
  let answer = await api.features(user, status, Math.min(wanted, 1000));
  const all = [...answer.data];
  while (answer.next && all.length < wanted) {
    answer = await api.page(answer.next);
    all.push(...answer.data);
  }
  return { all, hasMore: Boolean(answer.next) };
}

function draw(root, known, user, mayWrite, reload) {
  const said = JSON.stringify([status, known]);
  if (said === shown.said && isDrawn(root)) return;
  const rows = new Map(known.all.map((feature) => [JSON.stringify(feature), feature]));
  for (const [json, feature] of rows) rows.set(json, shown.rows.get(json) ?? row(feature, user, mayWrite, reload));
  Object.assign(shown, { said, rows });
  const more = h("div", { class: "more" }, known.hasMore && button(t("loadMore"), () => showMore(more, reload), { class: "quiet", "data-testid": "more-features" }));
  const list = [h("ul", { class: "features", "aria-label": t("featuresOf", { user }) }, [...rows.values()]), more];
  keepingFocus(() => fill(root, filter(user, reload), known.all.length ? list : emptyState(t("noFeatures"), t("noFeaturesMore"))));
}

async function showMore(more, reload) {
  fill(more, skeleton(1));
  const before = shown.rows.size;
  shown.wanted = before + PAGE;
  await reload();
  [...shown.rows.values()][before]?.querySelector("button, summary")?.focus();
}

function filter(user, reload) {
  const box = h("input", { type: "checkbox", "data-testid": "show-deleted" });
  box.checked = status === "all";
  box.onchange = () => {
    status = box.checked ? "all" : "current";
    reload();
  };
  return h("div", { class: "filter" }, h("p", { class: "hint" }, told("featuresOf", { user })), h("label", { class: "check" }, box, t("showDeleted")));
}

function row(feature, user, mayWrite, reload) {
  const deleted = feature.status === "DELETED";
  const isField = FIELDS.includes(feature.slot);
  const heard = [t("said", { n: feature.confidence }), t("lastSeen", { time: day(feature.lastSeenTime) })];
  const about = feature.source === "CHAT_EXTRACT" ? heard : [t("setAt", { time: day(feature.updateTime) })];
  const named = (action) => ({ class: "quiet", "aria-label": t("ofSlot", { action: t(action), slot: feature.slot }), "data-testid": `${action}-feature` });
  return h(
    "li",
    { class: deleted ? "feature deleted" : "feature", "data-testid": "feature", "data-slot": feature.slot },
    h(
      "div",
      { class: "feature-main", dir: "auto" },
      h("h3", {}, isField ? t(feature.slot) : feature.slot),
      h("p", { class: "feature-value" }, deleted ? t("deletedValue") : isField ? t(feature.value) : feature.value),
      feature.content && h("p", { class: "hint" }, feature.content),
    ),
    mayWrite &&
      !deleted &&
      h(
        "div",
        { class: "feature-tools" },
        button(t("edit"), () => openEdit(feature, user, reload), named("edit")),
        button(t("remove"), () => openRemove(feature, user, reload), { ...named("remove"), class: "quiet danger" }),
      ),
    h(
      "p",
      { class: "feature-about" },
      badge(t(feature.source), `source-${feature.source}`),
      badge(t(feature.category)),
      feature.status !== "ACTIVE" && badge(t(feature.status), "warn"),
      h("span", {}, about.join(" · ")),
    ),
    history(feature),
  );
}

function history(feature) {
  const quotes = feature.evidence.map((seen) => {
    const where = told("saidIn", { conversation: seen.conversationId, time: moment(seen.saidAt ?? seen.recordTime) });
    return h("li", { dir: "auto" }, h("q", {}, own(seen.quote)), " ", h("small", {}, where));
  });
  const earlier = feature.history.toReversed().map((was) => {
    const until = told("until", { time: moment(was.until), reason: english(was.reason) });
    return h("li", { dir: "auto" }, h("s", {}, own(was.value)), " ", badge(t(was.source), `source-${was.source}`), " ", h("small", {}, until));
  });
  return h(
    "details",
    { "data-testid": "history" },
    h("summary", {}, t("history")),
    quotes.length > 0 && h("ul", { class: "evidence" }, quotes),
    earlier.length > 0 && [h("h4", {}, t("earlierValues")), h("ul", { class: "evidence" }, earlier)],
    quotes.length + earlier.length === 0 && h("p", { class: "hint" }, t("noHistory")),
  );
}

function valueFields(feature = null) {
  const value = h("input", { name: "value", maxlength: 200, value: feature?.value ?? "", autocomplete: "off", "data-testid": "value" });
  const content = h("textarea", { name: "content", maxlength: 300, rows: 2, value: feature?.content ?? "" });
  const category = h("select", { name: "category" }, CATEGORIES.map((name) => h("option", { value: name }, t(name))));
  category.value = feature?.category ?? "OTHER";
  return { value, shown: [field(t("value"), value, t("valueHint")), field(t("content"), content, t("optional")), field(t("category"), category)] };
}

/** Asks for a new fact and adds it; one that is kept under its slot is replaced after a yes. */
export function openAdd(user, done) {
  const slot = h("input", { name: "slot", maxlength: 80, autocomplete: "off", "data-testid": "slot" });
  const { value, shown } = valueFields();
  const add = async (wish, replaces) => {
    const { code } = await api.add(user, wish, replaces);
    toast(code === 202 ? t("pending") : told(replaces ? "saved" : "added", { slot: short(wish.slot) }));
    await done();
  };
  openForm({
    title: t("addFeature"),
    fields: [field(t("slot"), slot, t("slotHint")), shown],
    submit: t("add"),
    check: (values) => (!values.slot.trim() ? [slot, t("needed")] : !values.value.trim() ? [value, t("needed")] : null),
    send: async (values) => {
      const wish = { ...values, slot: values.slot.trim(), value: values.value.trim() };
      try {
        await add(wish, false);
      } catch (error) {
        if (error.code !== 412) throw error;
        const kept = await found(user, (feature) => isAlike(feature.slot, wish.slot));
        return confirm({
          title: told("replaceFeature", { slot: wish.slot }),
          lead: kept ? told("replaceFeatureMore", { value: kept.value, other: wish.value }) : t("replaceUnseen"),
          submit: t("replace"),
          send: () => add(wish, true),
        });
      }
      return true;
    },
    testid: "add-dialog",
  });
}

/** Whether the API, which compares slots more finely, may well mean the same by both. */
function isAlike(one, other) {
  const plain = (slot) => slot.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}+#]+/gu, "");
  return plain(one) === plain(other);
}

function openEdit(feature, user, done) {
  let current = feature;
  const { value, shown } = valueFields(feature);
  openForm({
    title: told("editFeature", { slot: feature.slot }),
    fields: shown,
    submit: t("save"),
    check: (values) => (values.value.trim() ? null : [value, t("needed")]),
    send: async (values) => {
      try {
        const { code } = await api.edit(user, current, { ...values, value: values.value.trim() });
        toast(code === 202 ? t("pending") : told("saved", { slot: short(feature.slot) }));
      } catch (error) {
        if (error.code !== 412) throw error;
        current = await found(user, ({ featureId }) => featureId === feature.featureId);
        await done();
        if (!current) throw new Error(t("gone"));
        throw Object.assign(new Error(), { words: told("movedOn", { value: current.value }) });
      }
      await done();
    },
    testid: "edit-dialog",
  });
}

/** The first of the user's features, as they are now, that `isIt`; or null. */
async function found(user, isIt) {
  let answer = await api.features(user, "current", 1000);
  for (;;) {
    const feature = answer.data.find(isIt);
    if (feature || !answer.next) return feature ?? null;
    answer = await api.page(answer.next);
  }
}

function openRemove(feature, user, done) {
  confirm({
    title: told("removeFeature", { slot: feature.slot }),
    lead: told("removeFeatureMore", { value: feature.value }),
    submit: t("remove"),
    send: async () => {
      try {
        const { code } = await api.remove(user, feature);
        toast(code === 202 ? t("pending") : told("removed", { slot: short(feature.slot) }));
      } catch (error) {
        if (error.code !== 412) throw error;
        toast(t("changedMeanwhile"), "bad");
      }
      await done();
    },
  });
}
