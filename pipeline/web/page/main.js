// Puts the page together: what is selected, what is loaded, and who is told when it changes.

import * as api from "./api.js";
import { hear as hearStage, showAsk } from "./ask.js";
import { belief, openCorrection } from "./belief.js";
import { loadConversations, markSelected, openNew, showUserForm, touch } from "./conversations.js";
import { askForKey, emptyState, failedState, skeleton, toast } from "./dialogs.js";
import { button, byId, explained, fill, keepingFocus, own, told } from "./dom.js";
import { evolution } from "./evolution.js";
import { openAdd, showFeatures } from "./features.js";
import { openForget } from "./forget.js";
import { showInsight } from "./insight.js";
import { listen } from "./live.js";
import { openPoint } from "./point.js";
import { showSwitches, showView } from "./switches.js";
import { talk } from "./talk.js";
import { t } from "./words.js";

const TURNS = 200;
const TOGETHER = 200;
const SETTLED = 1500;
const asked = new URLSearchParams(location.search);
const state = {
  me: null,
  filter: asked.get("user_id"),
  session: asked.get("session_id"),
  owner: asked.get("user_id"),
  /** Whether the address names a user whom the key may not see. */
  isAstray: false,
};
const NOTHING = { messages: [], older: null, entries: [], hasEarlier: false };
let loaded = { ...NOTHING };
let leaving = new AbortController();
let listing = new AbortController();
let waiting = 0;
let scrolls = false;

/** Whose conversation of that name is meant, where the key may see several users'. */
const whose = () => (state.me.users ? state.owner : null);
const may = (scope) => state.me.scopes.includes(scope) || state.me.scopes.includes("admin");

async function start() {
  showSwitches(() => state.me && showAll());
  fill(byId("list-body"), skeleton(5));
  try {
    state.me = (await api.me()).data;
  } catch (error) {
    fill(byId("list-body"), failedState(error, start));
    return;
  }
  const { users } = state.me;
  state.isAstray = Boolean(users && state.owner && !users.includes(state.owner));
  if (state.isAstray) Object.assign(state, { filter: null, session: null, owner: null });
  if (users?.length === 1) state.filter = users[0];
  await showAll();
}

/** Another key may not see what is selected. */
function startAfresh() {
  Object.assign(state, { filter: null, session: null, owner: null });
  return start();
}

async function showAll() {
  showUserForm(state.me, state.filter, chooseUser);
  byId("new-button").hidden = !may("write");
  byId("key-button").hidden = state.me.anonymous;
  const all = await list();
  if (state.isAstray) return select(null, null, { stay: true });
  const here = all.find((each) => each.conversationId === state.session && [each.userId, null].includes(whose())) ?? (state.session ? null : all[0]);
  await select(here?.conversationId ?? state.session, here?.userId ?? state.owner ?? state.filter, { stay: true });
}

async function chooseUser(user) {
  Object.assign(state, { filter: user, session: null, owner: null, isAstray: false });
  await showAll();
}

async function list() {
  listing.abort();
  listing = new AbortController();
  const all = await loadConversations(state.filter, select, listing.signal);
  markSelected(state.session, whose());
  return all;
}

/** Shows the conversation, or, where it is null, that none is selected. */
async function select(session, owner, { stay = false } = {}) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  Object.assign(state, { session, owner, isAstray: state.isAstray && !session });
  loaded = { ...NOTHING };
  showWhere();
  markSelected(session, whose());
  if (!stay) showView("talk");
  for (const id of ["belief", "picture", "features", "insight", "ask"]) fill(byId(id));
  showTools();
  if (!session) return showNothingSelected(signal);
  fill(byId("talk-body"), skeleton(6));
  fill(byId("picture"), skeleton(4));
  fill(byId("features"), skeleton(3));
  listen(session, whose(), hear, signal);
  await loadTalk(signal);
  if (signal.aborted) return;
  state.owner = loaded.entries[0]?.userId ?? state.owner ?? state.me.users?.[0] ?? null;
  showWhere();
  if (may("write") && state.owner) showAsk(session, state.owner, () => soon({ toEnd: true }));
  showTools();
  byId("talk-body").scrollTop = byId("talk-body").scrollHeight;
  loadMemory(signal);
}

function showNothingSelected(signal) {
  showView(state.isAstray ? "talk" : "list");
  fill(byId("talk-body"), state.isAstray ? emptyState(t("noSuch"), t("noSuchMore")) : emptyState(t("pick"), t("pickMore")));
  fill(byId("picture"), emptyState(t("nothingBelieved"), t("nothingBelievedMore")));
  if (state.owner) return loadMemory(signal);
  fill(byId("features"), emptyState(t("pickUser"), t("pickUserMore")));
}

/** Shows what may be done with what is selected. */
function showTools() {
  const { session, owner } = state;
  byId("forget-button").hidden = !(session ? may("write") : owner && may("admin"));
  byId("correct-button").hidden = !session || !may("write");
  byId("add-button").hidden = !owner || !may("write");
}

async function loadMemory(signal = leaving.signal) {
  if (!state.owner) return;
  if (state.session) showInsight(state.session, state.owner, signal);
  await showFeatures(state.owner, may("write"), signal);
}

async function loadTalk(signal) {
  try {
    const { data, next } = await api.messages(state.session, whose());
    const last = data.at(-1)?.metadata.turn ?? 0;
    const entries = await readTrack(Math.max(0, last - TURNS));
    if (signal.aborted) return;
    Object.assign(loaded, { messages: data, older: next, entries, hasEarlier: entries.length >= TURNS });
    draw({ toEnd: true });
  } catch (error) {
    if (signal.aborted) return;
    if (error.code === 404) return draw({});
    fill(byId("talk-body"), failedState(error, () => select(state.session, state.owner)));
    fill(byId("picture"));
  }
}

/** The track documents after the turn `after`, each with what learning from it cost. */
async function readTrack(after) {
  const { data } = await api.track(state.session, whose(), after, TURNS);
  return data.map((item) => ({ ...JSON.parse(item.text), cost: item.metadata.cost }));
}

/** Reads what is new: the last messages, and the track from the last known turn on. */
async function refresh({ toEnd = false } = {}) {
  const { signal } = leaving;
  try {
    const { data } = await api.messages(state.session, whose());
    const entries = await readTrack(Math.max(0, (loaded.entries.at(-1)?.turn ?? 1) - 1));
    if (signal.aborted) return;
    if (!touch(state.session, whose(), data.at(-1)?.metadata)) list();
    const fresh = new Set(data.map((message) => message.metadata.messageId));
    const from = entries[0]?.turn ?? Infinity;
    loaded.messages = [...loaded.messages.filter((message) => !fresh.has(message.metadata.messageId)), ...data];
    loaded.entries = [...loaded.entries.filter((entry) => entry.turn < from), ...entries];
    draw({ toEnd });
    loadMemory(signal);
  } catch (error) {
    if (!signal.aborted && error.code !== 404) fill(byId("picture"), failedState(error, () => refresh({ toEnd })));
  }
}

function hear(event) {
  hearStage(event);
  if (!["guidance", "answer", "report"].includes(event.kind)) return;
  soon({});
}

/** Reads what is new, once for events that come close together; what lasts is learnt a little later than the answer. */
function soon({ toEnd = false }) {
  const { signal } = leaving;
  scrolls ||= toEnd;
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const wanted = { toEnd: scrolls };
    scrolls = false;
    await refresh(wanted);
    waiting = setTimeout(() => !signal.aborted && loadMemory(signal), SETTLED);
  }, TOGETHER);
}

/** Draws the talk and the role; the talk stays where it is unless `toEnd`, or its end is in sight. */
function draw({ toEnd = false, beyond = 0 }) {
  const body = byId("talk-body");
  const below = body.scrollHeight - body.scrollTop;
  keepingFocus(() => drawParts(beyond));
  if (toEnd || below - body.clientHeight < 80) body.scrollTop = body.scrollHeight;
}

function drawParts(beyond) {
  const { messages, entries } = loaded;
  const decisions = new Map(entries.map((entry) => [entry.turn, entry.decision]));
  const body = byId("talk-body");
  const asOlder = { class: "quiet", "data-testid": "earlier-messages" };
  const older = loaded.older && button(t("earlierMessages"), () => showOlder().catch(say), asOlder);
  fill(body, messages.length ? [older, talk(messages, decisions, openTurn)] : emptyState(t("noTalk"), t("noTalkMore")));
  fill(byId("belief"), belief(entries.at(-1) ?? null));
  const earlier = loaded.hasEarlier ? () => showEarlier().catch(say) : null;
  fill(byId("picture"), entries.length > 0 && evolution(entries, openTurn, earlier, beyond));
}

const say = (error) => toast(explained(error), "bad");

async function showOlder() {
  const { signal } = leaving;
  const body = byId("talk-body");
  const { data, next } = await api.page(loaded.older, signal);
  if (signal.aborted) return;
  Object.assign(loaded, { messages: [...data, ...loaded.messages], older: next });
  const below = body.scrollHeight - body.scrollTop;
  draw({});
  body.scrollTop = body.scrollHeight - below;
}

async function showEarlier() {
  const { signal } = leaving;
  const first = loaded.entries[0].turn;
  const entries = (await readTrack(Math.max(0, first - 1 - TURNS))).filter((entry) => entry.turn < first);
  if (signal.aborted) return;
  Object.assign(loaded, { entries: [...entries, ...loaded.entries], hasEarlier: entries.length >= TURNS });
  const seen = document.querySelector(".scroller");
  draw({ beyond: seen.scrollWidth - seen.scrollLeft - seen.clientWidth });
}

function openTurn(turn) {
  const answers = loaded.messages.filter((message) => message.messageType === "ASSISTANT");
  const costs = new Map(answers.map(({ metadata }) => [metadata.questionId, metadata.cost]));
  openPoint(turn, (which) => {
    const at = loaded.entries.findIndex((entry) => entry.turn === which);
    const entry = loaded.entries[at];
    return {
      entry,
      before: loaded.entries[at - 1] ?? null,
      answerCost: costs.get(entry.questionId),
      previous: loaded.entries[at - 1]?.turn ?? null,
      next: loaded.entries[at + 1]?.turn ?? null,
    };
  });
}

async function afterForgetting(what) {
  if (what === "role") return select(state.session, state.owner, { stay: true });
  Object.assign(state, { session: null, owner: null });
  return showAll();
}

function showWhere() {
  const { session, owner } = state;
  fill(byId("where"), session && (owner ? told("where", { conversation: session, user: owner }) : own(session)));
  const selected = Object.entries({ session_id: session, user_id: owner ?? state.filter }).filter(([, value]) => value);
  history.replaceState(null, "", selected.length ? `?${new URLSearchParams(selected)}` : location.pathname);
  document.title = session ? `${session} · Rolestream` : "Rolestream";
}

byId("key-button").onclick = async () => (await askForKey(api.keep, false)) && startAfresh();
byId("new-button").onclick = () => openNew(state.owner ?? state.filter, state.me.users, select);
byId("forget-button").onclick = () => openForget(state.session, state.owner, may("admin"), afterForgetting);
byId("correct-button").onclick = () => openCorrection(state.session, whose(), loaded.entries.at(-1) ?? null, () => refresh());
byId("add-button").onclick = () => openAdd(state.owner, () => loadMemory());
showView("talk");
api.onKeyNeeded((wasWrong) => askForKey(api.keep, wasWrong));
start();
