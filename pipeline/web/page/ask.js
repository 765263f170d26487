// Asks a question and follows it through the stages, each lit as its event comes.

import * as api from "./api.js";
import { byId, english, explained, fill, h, told } from "./dom.js";
import { duration } from "./formats.js";
import { t } from "./words.js";

const STAGES = ["asked", "logged", "extracted", "arbitrated", "answered"];
/** The stage that an event of the stream completes. */
const REACHED = { turn: "logged", extraction: "extracted", guidance: "arbitrated", answer: "answered", report: "answered" };
const MODES = ["auto", "answer", "report", "log"];
const POLL = 2000;
const PATIENCE = 180_000;
/** Milliseconds after which a question that is not over is said to take long. */
const SLOW = 8000;

let running = null;

/** Shows the form for `session`; `done()` runs once a question is over. */
export function showAsk(session, user, done) {
  running = null;
  const label = t("askLabel", { user });
  const text = h("textarea", { name: "text", rows: 2, maxlength: 32000, placeholder: t("askPlaceholder"), "aria-label": label, "data-testid": "ask-text" });
  const modes = MODES.map((name) => h("option", { value: name }, t(`mode_${name}`)));
  const mode = h("select", { name: "mode", "aria-label": t("askMode"), "data-testid": "ask-mode" }, modes);
  const go = h("button", { type: "submit", class: "main", "data-testid": "ask-send" }, t("askSend"));
  const alert = h("p", { class: "alert", role: "alert", hidden: true });
  const form = h("form", { class: "ask-form" }, text, h("div", { class: "ask-end" }, h("small", { class: "hint" }, told("askLabel", { user })), mode, go), alert);
  form.onsubmit = async (event) => {
    event.preventDefault();
    const words = text.value.trim();
    if (!words) return text.focus();
    go.disabled = true;
    alert.hidden = true;
    running = { id: newId(), session, user, mode: mode.value, started: performance.now(), times: {}, refused: null, isSlow: false, done };
    drawStages();
    const question = running;
    setTimeout(() => isOver(question) || saySlow(), SLOW);
    try {
      await api.ask({ conversationId: session, userId: user, questionId: running.id, text: words, mode: mode.value });
      text.value = "";
      reach("asked");
      follow(running);
    } catch (error) {
      running = null;
      drawStages();
      fill(alert, explained(error));
      alert.hidden = false;
    } finally {
      go.disabled = false;
    }
  };
  text.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  };
  const said = h("p", { id: "stages-said", class: "unseen", role: "status", "aria-live": "polite" });
  fill(byId("ask"), h("div", { id: "stages" }), said, form);
}

/** Takes an event of the stream; those of other questions are not ours. */
export function hear({ kind, data }) {
  if (!running || data?.questionId !== running.id) return;
  if (kind === "refused") refuse(data.reason);
  else if (REACHED[kind]) reach(REACHED[kind]);
}

function newId() {
  return crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const last = () => (running.mode === "log" ? "arbitrated" : "answered");
const isOver = (question) => question !== running || question.refused || question.times[last()] !== undefined;

function reach(stage) {
  if (running.times[stage] !== undefined) return;
  const index = STAGES.indexOf(stage);
  // Topics overtake one another on their way here: a stage was reached no later than those after it.
  const later = STAGES.slice(index).map((after) => running.times[after] ?? Infinity);
  running.times[stage] = Math.min(performance.now() - running.started, ...later);
  if (index > 0) running.times.asked ??= running.times[stage];
  drawStages();
  byId("stages-said").textContent = t("stageSaid", { stage: t(`stage_${stage}`), time: duration(running.times[stage]) });
  if (stage === last()) running.done();
}

function refuse(reason) {
  running.refused = reason;
  drawStages();
  fill(byId("stages-said"), why(reason));
}

const why = (reason) => told("refused", { reason: english(reason) });

function saySlow() {
  running.isSlow = true;
  drawStages();
  byId("stages-said").textContent = t("slow");
}

/** Looks for the answer now and then, for the stream may have begun too late or broken off. */
async function follow(question) {
  while (!isOver(question)) {
    await new Promise((resolve) => setTimeout(resolve, POLL));
    if (isOver(question)) return;
    if (performance.now() - question.started > PATIENCE) return;
    try {
      const { data } = await api.answer(question.id, question.session, question.user);
      if (data && !isOver(question)) reach("answered");
    } catch (error) {
      if (error.code === 409 && !isOver(question)) refuse(error.message);
    }
  }
}

function drawStages() {
  const root = byId("stages");
  if (!running) return fill(root);
  const at = Math.max(...STAGES.map((stage, index) => (running.times[stage] === undefined ? -1 : index)));
  const stateOf = (stage, index) => {
    if (index <= at) return "reached";
    if (index > at + 1) return "ahead";
    return running.refused ? "refused" : isOver(running) ? "ahead" : "waiting";
  };
  const steps = STAGES.map((stage, index) => {
    const time = running.times[stage];
    const state = stateOf(stage, index);
    return h(
      "li",
      { class: `stage ${state}`, "data-testid": `stage-${stage}`, "data-state": state },
      h("span", { class: "stage-dot", "aria-hidden": "true" }),
      h("span", { class: "stage-name" }, t(`stage_${stage}`)),
      h("small", {}, time === undefined ? "" : duration(time)),
    );
  });
  const refused = running.refused && h("p", { class: "alert", "data-testid": "refused" }, why(running.refused));
  const slow = running.isSlow && !isOver(running) && h("p", { class: "hint", "data-testid": "slow" }, t("slow"));
  fill(root, h("ol", { class: "stages", "aria-label": t("stages"), "data-testid": "stages" }, steps), refused, slow);
}
