// Forgetting: what, confirmed by typing its id, and the receipt of what was removed.

import * as api from "./api.js";
import { open, openForm } from "./dialogs.js";
import { button, field, fill, h, told } from "./dom.js";
import { moment, number } from "./formats.js";
import { isWord, t } from "./words.js";

/** Asks what to forget and has it forgotten, without a session all of the user; `done(what)` runs after it: role, conversation or user. */
export function openForget(session, user, isAdmin, done) {
  const whats = session ? ["role", "conversation", "user"] : ["user"];
  const choices = whats.map((what, at) => choice(what, at === 0, what === "user" && !isAdmin));
  const typed = h("input", { name: "typed", autocomplete: "off", spellcheck: "false", "data-testid": "confirm-id" });
  const confirmed = field("", typed, t("typeHint"));
  const wanted = (what) => (what === "user" ? user : session);
  const fieldset = h("fieldset", { class: "choices" }, h("legend", {}, t("forgetWhat")), choices);
  const say = (what) => fill(confirmed.querySelector("label"), told("typeToConfirm", { id: wanted(what) }));
  fieldset.onchange = (event) => say(event.target.value);
  say(whats[0]);
  openForm({
    title: t("forgetTitle"),
    fields: [fieldset, confirmed],
    submit: t("forget"),
    danger: true,
    check: (values) => (values.typed === wanted(values.what) ? null : [typed, told("typeWrong", { id: wanted(values.what) })]),
    send: async ({ what }) => {
      const { code, data } = await (what === "role" ? api.forgetRole(session, user) : api.forget(user, what === "user" ? null : session));
      await done(what);
      showReceipt(what, code, data);
    },
    testid: "forget-dialog",
  });
}

function choice(what, checked, barred) {
  const radio = h("input", { type: "radio", name: "what", value: what, checked, disabled: barred, "data-testid": `forget-${what}` });
  const more = barred ? t("needsAdmin") : t(`forget_${what}More`);
  return h("label", { class: "choice" }, radio, h("span", {}, h("strong", {}, t(`forget_${what}`)), h("small", {}, more)));
}

function showReceipt(what, code, receipt) {
  const removed = Object.entries(receipt.removed ?? {});
  const total = removed.reduce((sum, [, count]) => sum + count, 0);
  const line = (name, count, kind = null) => h("tr", { class: kind }, h("th", { scope: "row" }, name), h("td", {}, number(count)));
  const rows = removed.map(([name, count]) => line(isWord(`removed_${name}`) ? t(`removed_${name}`) : name, count));
  const sum = line(t("total"), total, "total");
  const content = h(
    "div",
    { class: "receipt" },
    h("p", { class: "lead" }, code === 202 ? t("pending") : t("receiptDone", { time: moment(receipt.time) })),
    h("p", {}, h("strong", {}, t(`forget_${what}`))),
    total > 0 && h("table", { "data-testid": "removed" }, h("caption", {}, t("documents")), h("tbody", {}, rows), h("tfoot", {}, sum)),
    total === 0 && code !== 202 && h("p", { class: "hint" }, t("receiptNothing")),
    h("p", { class: "hint" }, `${t("commandId")}: `, h("code", {}, receipt.commandId)),
    h("div", { class: "form-end" }, button(t("close"), () => dialog.close(), { class: "main", "data-testid": "receipt-close" })),
  );
  const dialog = open(t("receipt"), content, { testid: "receipt" });
}
