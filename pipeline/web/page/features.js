// The lasting facts about a user: list, add, edit against a version, delete after a yes, where each comes from.

import * as api from "./api.js";
import { confirm, emptyState, failedState, openForm, skeleton, toast } from "./dialogs.js";
import { badge, button, byId, field, fill, h, keepingFocus, own, told } from "./dom.js";
import { day, moment } from "./formats.js";
import { FIELDS } from "./lanes.js";
import { t } from "./words.js";

const CATEGORIES = ["PREFERENCE", "PERSONAL_INFO", "HABIT", "OTHER"];
let status = "current";
/** What is shown, so that reading the same again leaves it as it is. */
let shown = "";

/** Loads the features of `user` and shows them. */
export async function showFeatures(user, mayWrite, signal) {
  const root = byId("features");
  const reload = () => showFeatures(user, mayWrite, signal);
  if (!root.hasChildNodes()) {
    shown = "";
    fill(root, skeleton(3));
  }
  let first;
  try {
    first = await api.features(user, status);
  } catch (error) {
    if (!signal.aborted) fill(root, failedState(error, () => fill(root) && reload()));
    return;
  }
  const now = JSON.stringify([status, first]);
  if (signal.aborted || now === shown) return;
  shown = now;
  const items = h("ul", { class: "features", "aria-label": t("featuresOf", { user }) });
  const more = h("div", { class: "more" });
  const take = ({ data, next }) => {
    items.append(...data.map((feature) => row(feature, user, mayWrite, reload)));
    fill(more, next && button(t("loadMore"), () => loadMore(next), { class: "quiet", "data-testid": "more-features" }));
  };
  const loadMore = async (next) => {
    fill(more, skeleton(1));
    try {
      take(await api.page(next));
    } catch (error) {
      fill(more, failedState(error, () => loadMore(next)));
    }
  };
  take(first);
  const known = first.data.length ? [items, more] : emptyState(t("noFeatures"), t("noFeaturesMore"));
  keepingFocus(() => fill(root, filter(user, reload), known));
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
    const until = told("until", { time: moment(was.until), reason: was.reason });
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

/** Asks for a new fact and adds it. */
export function openAdd(user, done) {
  const slot = h("input", { name: "slot", maxlength: 80, autocomplete: "off", "data-testid": "slot" });
  const { value, shown } = valueFields();
  openForm({
    title: t("addFeature"),
    fields: [field(t("slot"), slot, t("slotHint")), shown],
    submit: t("add"),
    check: (values) => (!values.slot.trim() ? [slot, t("needed")] : !values.value.trim() ? [value, t("needed")] : null),
    send: async (values) => {
      const { code } = await api.add(user, { ...values, slot: values.slot.trim(), value: values.value.trim() });
      toast(code === 202 ? t("pending") : told("added", { slot: values.slot.trim() }));
      await done();
    },
    testid: "add-dialog",
  });
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
        toast(code === 202 ? t("pending") : told("saved", { slot: feature.slot }));
      } catch (error) {
        if (error.code !== 412) throw error;
        current = await newest(user, feature.featureId);
        await done();
        if (!current) throw new Error(t("gone"));
        throw Object.assign(new Error(), { words: told("movedOn", { value: current.value }) });
      }
      await done();
    },
    testid: "edit-dialog",
  });
}

async function newest(user, featureId) {
  let answer = await api.features(user, "current");
  for (;;) {
    const found = answer.data.find((feature) => feature.featureId === featureId);
    if (found || !answer.next) return found ?? null;
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
        toast(code === 202 ? t("pending") : told("removed", { slot: feature.slot }));
      } catch (error) {
        if (error.code !== 412) throw error;
        toast(t("changedMeanwhile"), "bad");
      }
      await done();
    },
  });
}
