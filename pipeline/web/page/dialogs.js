// Dialogs, forms in dialogs, toasts, and the states that every panel has: empty, loading, failed.

import { button, byId, complain, explained, fault, field, fill, h, told, twin } from "./dom.js";
import { listed } from "./formats.js";
import { t } from "./words.js";

/** What a header can carry. */
const SENDABLE = /^[\x20-\x7e]+$/;
let titles = 0;

/** Opens a modal dialog and returns it; when it closes, the focus goes back to where it was, or near. */
export function open(title, content, { wide = false, testid = null, actions = [] } = {}) {
  const id = `dialog-${++titles}`;
  const shut = button("×", () => dialog.close(), { class: "shut", "aria-label": t("close") });
  const dialog = h(
    "dialog",
    { class: wide ? "wide" : null, "aria-labelledby": id, "data-testid": testid },
    h("div", { class: "dialog-head" }, h("h2", { id }, title), actions, shut),
    h("div", { class: "dialog-body", tabindex: wide ? 0 : null, role: wide ? "group" : null, "aria-labelledby": wide ? id : null }, content),
  );
  const opener = document.activeElement;
  const near = opener.closest(".pane")?.querySelector(".pane-head button");
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (!opener.isConnected || opener === document.body) (twin(opener) ?? near ?? byId("talk")).focus();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * A form in a dialog. `send` gets the form's values; the dialog closes once it is done, stays where it gives false,
 * and stays, with what is wrong, where it throws. `check(values)` names the first control that is wrong, as
 * [control, message], or null.
 */
export function openForm({ title, lead = "", fields, submit, danger = false, check = () => null, send, testid }) {
  const alert = h("p", { class: "alert", role: "alert", hidden: true });
  const go = h("button", { type: "submit", class: danger ? "main danger" : "main", "data-testid": "submit" }, submit);
  const form = h(
    "form",
    { class: "form", novalidate: true },
    lead && h("p", { class: "lead" }, lead),
    fields,
    alert,
    h("div", { class: "form-end" }, button(t("cancel"), () => dialog.close(), { "data-testid": "cancel" }), go),
  );
  let isOfFields = false;
  const say = (message) => {
    fill(alert, message);
    alert.hidden = !message;
  };
  form.addEventListener("input", ({ target }) => {
    if (target.matches("[aria-invalid]")) complain(target, "");
    if (isOfFields) say("");
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    for (const control of form.querySelectorAll("[aria-invalid]")) complain(control, "");
    say("");
    const values = Object.fromEntries(new FormData(form));
    const wrong = check(values, form.elements);
    if (wrong) {
      complain(...wrong);
      wrong[0].focus();
      return;
    }
    go.disabled = true;
    try {
      if ((await send(values, form)) !== false) dialog.close("sent");
    } catch (error) {
      const wrongs = wrongFields(form, error);
      isOfFields = wrongs.size > 0;
      for (const [control, message] of wrongs) complain(control, message);
      say(isOfFields ? told("lookAgain", { fields: listed([...wrongs.keys()].map(labelOf)) }) : explained(error));
    } finally {
      go.disabled = false;
    }
  });
  const dialog = open(title, form, { testid });
  form.querySelector("input:not([type=radio]), textarea, select")?.focus();
  return dialog;
}

const labelOf = (control) => control.labels[0].textContent;

/** What the API says of fields that the form has, each fault once: control to message; none where it is of others, too. */
function wrongFields(form, error) {
  const faults = Array.isArray(error.data) ? error.data : [];
  const wrongs = new Map();
  for (const { field: place, message } of faults) {
    const control = form.elements[place.split(".")[1]];
    if (!control?.id) return new Map();
    if (!wrongs.has(control)) wrongs.set(control, fault(message));
  }
  return wrongs;
}

/** Where a client asks before it destroys: `send` runs on yes; resolves to whether it was a yes. */
export function confirm({ title, lead, submit, send }) {
  const dialog = openForm({ title, lead, fields: [], submit, danger: true, send, testid: "confirm" });
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "sent")));
}

export function toast(message, kind = "") {
  const shown = h("p", { class: `toast ${kind}` }, message);
  fill(byId("toasts"), shown);
  setTimeout(() => shown.remove(), 6000);
}

export function emptyState(title, more, action = null) {
  return h("div", { class: "state", "data-testid": "empty" }, h("p", { class: "state-title" }, title), h("p", {}, more), action);
}

export function failedState(error, retry) {
  return h(
    "div",
    { class: "state failed", role: "alert", "data-testid": "failed" },
    h("p", { class: "state-title" }, explained(error)),
    button(t("retry"), retry, { "data-testid": "retry" }),
  );
}

export function skeleton(lines = 3) {
  const bones = Array.from({ length: lines }, (_, at) => h("span", { class: `bone bone-${at % 3}` }));
  return h("div", { class: "skeleton", role: "status", "data-testid": "loading" }, h("span", { class: "unseen" }, t("loading")), bones);
}

/** Asks for the API key; resolves to whether one was given. */
export function askForKey(keep, { wasWrong = false, isChange = false }) {
  return new Promise((resolve) => {
    const input = h("input", { name: "key", type: "password", autocomplete: "off", "data-testid": "key-input" });
    const dialog = openForm({
      title: t(isChange ? "keyChange" : "keyTitle"),
      fields: [field(t("keyLabel"), input, t("keyMore"))],
      submit: t("keyUse"),
      check: ({ key }) => (!key.trim() ? [input, t("needed")] : !SENDABLE.test(key.trim()) ? [input, t("keyWrong")] : null),
      send: async ({ key }) => keep(key.trim()),
      testid: "key-dialog",
    });
    if (wasWrong) complain(input, t("keyWrong"));
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "sent"));
  });
}
