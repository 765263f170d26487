// The questions that were asked here, each followed through its stages, which are lit as its events come.

import * as api from "./api.js";
import { byId, english, fill, h, told } from "./dom.js";
import { duration } from "./formats.js";
import { t } from "./words.js";

const STAGES = ["asked", "logged", "extracted", "arbitrated", "answered"];
/** The stage that an event of the stream completes. */
const REACHED = { turn: "logged", extraction: "extracted", guidance: "arbitrated", answer: "answered", report: "answered" };
const POLL = 2000;
const PATIENCE = 180_000;
/** What the API says before the reason. */
const REFUSED = /^the question was refused: /;
/** Milliseconds after which a question that is not over is said to take long. */
const SLOW = 8000;

let questions = [];
/** The conversation that is shown, and who is told where its questions stand. */
let shown = { place: null, look: () => {}, draw: () => {} };

export const placeOf = (session, user) => JSON.stringify([session, user]);

const ofShown = () => questions.filter((question) => question.place === shown.place);
const current = () => ofShown().at(-1) ?? null;
/** What is only learnt from is not answered. */
const stagesOf = (question) => (question.mode === "log" ? STAGES.slice(0, -1) : STAGES);
const isReached = (question, stage) => question.times[stage] !== undefined;
const isOver = (question) => !questions.includes(question) || question.refused !== null || isReached(question, stagesOf(question).at(-1));

/** Shows the stages of the conversation's last question; `look()` has what is new read, `draw()` what is pending drawn. */
export function showStages(session, user, { look, draw }) {
  shown = { place: placeOf(session, user), look, draw };
  questions = questions.filter((question) => !isOver(question) || (question.refused !== null && !question.isSeen));
  drawStages();
}

/** What was asked in the conversation that is shown and is not in its talk: {text, isRefused}. */
export function pending() {
  return ofShown()
    .filter((question) => !question.isSeen)
    .map(({ text, refused }) => ({ text, isRefused: refused !== null }));
}

/** Asks, and follows what becomes of it; `giveBack(question)` gets one that was not taken and says whether its words are kept. */
export async function ask(question, giveBack) {
  questions = questions.filter((other) => !other.isGivenBack);
  const asked = { ...question, started: performance.now(), times: {}, refused: null, isSlow: false, isSeen: false, isGivenBack: false, giveBack };
  asked.place = placeOf(asked.session, asked.user);
  questions.push(asked);
  setTimeout(() => isOver(asked) || saySlow(asked), SLOW);
  drawStages();
  shown.draw({ toEnd: true });
  try {
    await api.ask({ conversationId: asked.session, userId: asked.user, questionId: asked.id, text: asked.text, mode: asked.mode });
  } catch (error) {
    if (giveBack(asked)) questions = questions.filter((other) => other !== asked);
    else asked.refused = "";
    drawStages();
    shown.draw({});
    throw error;
  }
  reach(asked, "asked");
  follow(asked);
}

/** Takes an event of the stream; those of questions that were asked elsewhere are not ours. */
export function hear({ kind, data }) {
  const question = questions.find(({ id }) => id === data?.questionId);
  if (!question) return;
  if (kind === "refused") refuse(question, data.reason);
  else if (REACHED[kind]) reach(question, REACHED[kind]);
}

/** Takes what was read of the conversation that is shown, which tells as much as the events do. */
export function compare(messages, entries) {
  for (const question of ofShown()) {
    const said = messages.filter(({ metadata }) => metadata.questionId === question.id);
    if (!said.length) continue;
    question.isSeen = true;
    reach(question, "logged");
    if (entries.some(({ questionId }) => questionId === question.id)) reach(question, "arbitrated");
    if (said.some(({ messageType }) => messageType === "ASSISTANT")) reach(question, "answered");
  }
}

/** Leaves alone what was asked in a conversation, without one anywhere: it was forgotten. */
export function drop(session = null, user = null) {
  questions = session === null ? [] : questions.filter(({ place }) => place !== placeOf(session, user));
}

function reach(question, stage) {
  if (isReached(question, stage) || !stagesOf(question).includes(stage)) return;
  const index = STAGES.indexOf(stage);
  // Topics overtake one another on their way here: a stage was reached no later than those after it.
  const later = STAGES.slice(index).map((after) => question.times[after] ?? Infinity);
  question.times[stage] = Math.min(performance.now() - question.started, ...later);
  if (index > 0) question.times.asked ??= question.times[stage];
  say(question, t("stageSaid", { stage: t(`stage_${stage}`), time: duration(question.times[stage]) }));
  if (question === current() && isOver(question)) shown.look({ toEnd: true });
}

function refuse(question, reason) {
  question.refused = reason;
  question.isGivenBack = question.giveBack(question);
  say(question, why(reason));
  shown.draw({});
}

const why = (reason) => told("refused", { reason: english(reason) });

function saySlow(question) {
  question.isSlow = true;
  say(question, t("slow"));
}

function say(question, words) {
  if (question !== current()) return;
  drawStages();
  fill(byId("stages-said"), words);
}

/** Looks for the answer now and then, for the stream may have begun too late or broken off. */
async function follow(question) {
  while (!isOver(question) && performance.now() - question.started < PATIENCE) {
    await new Promise((resolve) => setTimeout(resolve, POLL));
    if (isOver(question)) return;
    try {
      const { code } = await api.answer(question.id, question.session, question.user);
      if (code !== 200 || isOver(question)) continue;
      if (question.mode === "log") shown.look({});
      else reach(question, "answered");
    } catch (error) {
      if (error.code === 409 && !isOver(question)) refuse(question, error.message.replace(REFUSED, ""));
    }
  }
}

function drawStages() {
  const root = byId("stages");
  const question = current();
  if (!root) return;
  if (!question || question.refused === "") return fill(root);
  const stages = stagesOf(question);
  const at = Math.max(...stages.map((stage, index) => (isReached(question, stage) ? index : -1)));
  const stateOf = (index) => {
    if (index <= at) return "reached";
    if (index > at + 1) return "ahead";
    return question.refused ? "refused" : isOver(question) ? "ahead" : "waiting";
  };
  const steps = stages.map((stage, index) => step(stage, stateOf(index), question.times[stage]));
  const refused = question.refused && h("p", { class: "alert", "data-testid": "refused" }, why(question.refused));
  const slow = question.isSlow && !isOver(question) && h("p", { class: "hint", "data-testid": "slow" }, t("slow"));
  fill(root, h("ol", { class: "stages", "aria-label": t("stages"), "data-testid": "stages" }, steps), refused, slow);
}

function step(stage, state, time) {
  return h(
    "li",
    { class: `stage ${state}`, "data-testid": `stage-${stage}`, "data-state": state },
    h("span", { class: "stage-dot", "aria-hidden": "true" }),
    h("span", { class: "stage-name" }, t(`stage_${stage}`)),
    h("small", {}, time === undefined ? "" : duration(time)),
  );
}
