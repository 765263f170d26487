// The talk: questions and answers by turn, long texts folded, failed answers marked.

import { badge, button, h } from "./dom.js";
import { moment } from "./formats.js";
import { mark } from "./marks.js";
import { t } from "./words.js";

const LONG = 700;
const MANY_LINES = 14;
/** The long texts that are shown whole, so that they stay so when the talk is drawn anew. */
const unfolded = new Set();

/** The messages as articles, one a turn, then what is pending; `open(turn)` shows what the turn taught. */
export function talk(messages, pending, decisions, open) {
  const turns = new Map();
  for (const message of messages) {
    const turn = message.metadata.turn;
    if (!turns.has(turn)) turns.set(turn, []);
    turns.get(turn).push(message);
  }
  return [[...turns].map(([turn, said]) => turnArticle(turn, said, decisions.get(turn), open)), pending.map(pendingArticle)];
}

/** A question that was asked here and is not in the log: {text, isRefused}. */
function pendingArticle({ text, isRefused }) {
  const about = isRefused ? badge(t("notTaken"), "bad") : badge(t("notLogged"));
  const speaker = h("p", { class: "speaker" }, t("question"), about);
  const words = h("div", { class: "bubble question pending" }, speaker, foldable(text));
  return h("article", { class: "turn", "data-testid": "pending", "data-state": isRefused ? "refused" : "pending" }, words);
}

function turnArticle(turn, said, decision, open) {
  const head = h(
    "div",
    { class: "turn-head" },
    h("h3", {}, t("turn", { n: turn })),
    h("time", { datetime: said[0].metadata.createTime }, moment(said[0].metadata.createTime)),
    decision &&
      h(
        "button",
        { type: "button", class: "taught", "data-testid": "taught", onclick: () => open(turn), "aria-label": t("whatItTaught", { n: turn, decision: t(decision) }) },
        mark(decision),
        h("span", { "aria-hidden": "true" }, t(decision)),
      ),
  );
  return h("article", { class: "turn", "data-turn": turn, "data-testid": "turn" }, head, said.map(bubble));
}

function bubble(message) {
  const asked = message.messageType === "USER";
  const failed = !asked && message.metadata.status === "failed";
  const text = message.text || (failed ? t("answerFailed") : "");
  return h(
    "div",
    { class: `bubble ${asked ? "question" : "answer"} ${failed ? "failed" : ""}`.trim(), "data-testid": asked ? "question" : "answer" },
    h("p", { class: "speaker" }, t(asked ? "question" : "answer"), failed && badge(t("FAILED"), "bad")),
    foldable(text),
  );
}

/** Text as it was written; a long one is folded behind a button. */
export function foldable(text) {
  const words = h("div", { class: "words", dir: "auto" }, text);
  if (text.length <= LONG && text.split("\n").length <= MANY_LINES) return words;
  const more = button("", () => fold(unfolded.has(text)), { class: "link", "data-testid": "show-all" });
  const fold = (folded) => {
    unfolded[folded ? "delete" : "add"](text);
    words.classList.toggle("folded", folded);
    more.textContent = t(folded ? "showAll" : "showLess");
    more.setAttribute("aria-expanded", String(!folded));
  };
  fold(!unfolded.has(text));
  return [words, more];
}
