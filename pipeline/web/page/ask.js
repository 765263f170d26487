// The box for a question, with a draft for each conversation.

import { ask, placeOf, showStages } from "./asked.js";
import { byId, explained, fill, h, told } from "./dom.js";
import { number } from "./formats.js";
import { t } from "./words.js";

const MODES = ["auto", "answer", "report", "log"];
const LONGEST = 32_000;
/** By conversation: the words that were not sent yet, as what, and the id under which they may have been. */
const drafts = new Map();

function draftOf(place) {
  if (!drafts.has(place)) drafts.set(place, { text: "", mode: "auto", id: null });
  return drafts.get(place);
}

/** Shows the box for `session`; `look` and `draw` are those of `showStages`. */
export function showAsk(session, user, { look, draw }) {
  const place = placeOf(session, user);
  const draft = draftOf(place);
  const label = t("askLabel", { user });
  const text = h("textarea", {
    name: "text",
    rows: 2,
    maxlength: LONGEST,
    placeholder: t("askPlaceholder"),
    "aria-label": label,
    "data-testid": "ask-text",
    "data-place": place,
    value: draft.text,
  });
  const modes = MODES.map((name) => h("option", { value: name }, t(`mode_${name}`)));
  const mode = h("select", { name: "mode", "aria-label": t("askMode"), "data-testid": "ask-mode" }, modes);
  mode.value = draft.mode;
  mode.onchange = () => (draft.mode = mode.value);
  const go = h("button", { type: "submit", class: "main", "data-testid": "ask-send" }, t("askSend"));
  const alert = h("p", { class: "alert", role: "alert", hidden: true });
  const say = (message) => {
    fill(alert, message);
    alert.hidden = !message;
  };
  text.onbeforeinput = ({ data, dataTransfer }) => {
    const added = (data ?? dataTransfer?.getData("text/plain") ?? "").length;
    const isCut = added > 0 && text.value.length - (text.selectionEnd - text.selectionStart) + added > LONGEST;
    // What the box takes of it is there, and said to be all, after its own event.
    if (isCut) setTimeout(() => say(t("cut", { n: number(LONGEST) })));
  };
  text.oninput = () => {
    Object.assign(draft, { text: text.value, id: null });
    say("");
  };
  text.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  };
  const form = h("form", { class: "ask-form" }, text, h("div", { class: "ask-end" }, h("small", { class: "hint" }, told("askLabel", { user })), mode, go), alert);
  form.onsubmit = async (event) => {
    event.preventDefault();
    const words = text.value.trim();
    if (!words) return text.focus();
    const id = draft.id ?? newId();
    draft.id = null;
    go.disabled = true;
    say("");
    put(place, "");
    try {
      await ask({ id, session, user, text: words, mode: mode.value }, giveBack);
    } catch (error) {
      if (draft.text === words) draft.id = id;
      say(explained(error));
    } finally {
      go.disabled = false;
    }
  };
  const said = h("p", { id: "stages-said", class: "unseen", role: "status", "aria-live": "polite" });
  fill(byId("ask"), h("div", { id: "stages" }), said, form);
  showStages(session, user, { look, draw });
}

/** Puts words into the conversation's box, be it shown or not. */
function put(place, words) {
  draftOf(place).text = words;
  const text = byId("ask").querySelector("textarea");
  if (text?.dataset.place === place) text.value = words;
}

/** Puts what was not taken back into an empty box; false where there are other words in it. */
function giveBack({ session, user, text }) {
  const place = placeOf(session, user);
  if (draftOf(place).text.trim()) return false;
  put(place, text);
  return true;
}

function newId() {
  return crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
