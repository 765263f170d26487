// Puts the page together: what is selected, what is loaded, and who is told when it changes.

import * as api from "./api.js";
import { showAsk } from "./ask.js";
import { compare, drop, hear as hearStage, pending } from "./asked.js";
import { belief, openCorrection } from "./belief.js";
import { loadConversations, markSelected, openNew, pin, showUserForm, touch } from "./conversations.js";
import { askForKey, emptyState, failedState, skeleton, toast } from "./dialogs.js";
import { button, byId, explained, fill, isolated, keepingFocus, own, told } from "./dom.js";
import { evolution } from "./evolution.js";
import { openAdd, showFeatures } from "./features.js";
import { openForget } from "./forget.js";
import { showInsight } from "./insight.js";
import { listen } from "./live.js";
import { onReturn, placeOfAddress, showPlace } from "./place.js";
import { openPoint } from "./point.js";
import { joined, NOTHING, read, withEarlier, withOlder } from "./reading.js";
import { showSwitches, showView } from "./switches.js";
import { talk } from "./talk.js";
import { t } from "./words.js";

const TOGETHER = 200;
const SETTLED = 1500;
const NOTHING_DUE = { toEnd: false, isTalkAlone: true };
/** Whose list, which conversation and whose; astray where the address names a user whom the key may not see. */
const state = { me: null, isAstray: false, ...placeOfAddress() };
let loaded = NOTHING;
let leaving = new AbortController();
let listing = new AbortController();
let readings = 0;
let waiting = 0;
/** What the next reading that is not overtaken by another is to do. */
let due = NOTHING_DUE;

const may = (scope) => state.me.scopes.includes(scope) || state.me.scopes.includes("admin");
const isSpoken = () => loaded.messages.length + loaded.entries.length > 0;

async function start() {
  showSwitches(() => state.me && showAll());
  fill(byId("list-body"), skeleton(5));
  try {
    state.me = (await api.me()).data;
  } catch (error) {
    fill(byId("list-body"), failedState(error, start));
    return;
  }
  goTo(state);
  await showAll();
}

/** Leaves what is shown for another place, as far as the key may see it. */
function goTo({ filter, session, owner }) {
  leaving.abort();
  leaving = new AbortController();
  const { users } = state.me;
  const isAstray = Boolean(users && owner && !users.includes(owner));
  Object.assign(state, isAstray ? { filter: null, session: null, owner: null, isAstray } : { filter, session, owner, isAstray });
  if (users?.length === 1) state.filter = users[0];
}

/** Another key may not see what is selected. */
function startAfresh() {
  leaving.abort();
  Object.assign(state, { filter: null, session: null, owner: null });
  return start();
}

async function showAll({ asStep = false } = {}) {
  showUserForm(state.me, state.filter, chooseUser);
  byId("new-button").hidden = !may("write");
  byId("key-button").hidden = state.me.anonymous;
  const { signal } = leaving;
  const all = await list();
  if (signal.aborted) return; // Something was selected meanwhile.
  if (state.isAstray) return select(null, null, { stay: true, asStep });
  const here = all.find((each) => each.conversationId === state.session && [each.userId, null].includes(state.owner)) ?? (state.session ? null : all[0]);
  await select(here?.conversationId ?? state.session, here?.userId ?? state.owner ?? state.filter, { stay: true, asStep });
}

async function chooseUser(user) {
  goTo({ filter: user, session: null, owner: null });
  await showAll({ asStep: true });
}

async function goBack({ view, ...place }) {
  for (const dialog of document.querySelectorAll("dialog:not([data-testid=key-dialog])")) dialog.close();
  if (!state.me) return;
  const { filter } = state;
  goTo(place);
  if (view) showView(view);
  await (state.filter === filter && state.session ? select(state.session, state.owner, { stay: true, asStep: false }) : showAll());
}

async function list() {
  listing.abort();
  listing = new AbortController();
  const all = await loadConversations(state.filter, select, listing.signal);
  markSelected(state.session, state.owner);
  showOnList();
  return all;
}

/** Brings the list up to date with the conversation that is shown, be it further down than was loaded. */
function showOnList() {
  const { session, owner, filter } = state;
  const [first, last] = [loaded.messages[0], loaded.messages.at(-1)?.metadata];
  if (!last || touch(session, state.owner, last) || (filter && filter !== owner)) return;
  const title = loaded.older ? session : first.text;
  pin({ conversationId: session, userId: owner, turnCount: last.turn, lastActiveTime: last.createTime, title }, select);
}

/** Shows the conversation, or, where it is null, that none is selected; `asStep`, so that Back leads from it. */
async function select(session, owner, { stay = false, asStep = true } = {}) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  Object.assign(state, { session, owner, isAstray: state.isAstray && !session });
  loaded = NOTHING;
  due = NOTHING_DUE;
  showPlace(state, asStep);
  showWhere();
  markSelected(session, state.owner);
  if (!stay) showView("talk");
  for (const id of ["belief", "picture", "features", "insight", "ask"]) fill(byId(id));
  showTools();
  if (!session) return showNothingSelected(signal);
  for (const [id, lines] of [["talk-body", 6], ["picture", 4], ["features", 3]]) fill(byId(id), skeleton(lines));
  listen(session, state.owner, { hear, opened: (isFirst) => soon({ isTalkAlone: isFirst }), showAway }, signal);
  await refresh({ toEnd: true });
}

function showNothingSelected(signal) {
  showView(state.isAstray ? "talk" : "list");
  showAway(false);
  fill(byId("talk-body"), state.isAstray ? emptyState(t("noSuch"), t("noSuchMore")) : emptyState(t("pick"), t("pickMore")));
  fill(byId("picture"), emptyState(t("nothingBelieved"), t("nothingBelievedMore")));
  return loadMemory(signal);
}

const showAway = (isAway) => (byId("away").hidden = !isAway);

/** Shows what may be done with what is selected. */
function showTools() {
  const { session, owner } = state;
  const aboutAll = owner && may("admin");
  byId("forget-button").hidden = !(session && isSpoken() ? may("write") : aboutAll);
  byId("correct-button").hidden = !session || !isSpoken() || !may("write");
  byId("add-button").hidden = !owner || !may("write");
}

async function loadMemory(signal = leaving.signal) {
  if (!state.owner) return fill(byId("features"), emptyState(t("pickUser"), t("pickUserMore")));
  if (state.session) showInsight(state.session, state.owner, signal);
  await showFeatures(state.owner, may("write"), signal);
}

const owe = ({ toEnd = false, isTalkAlone = false }) => (due = { toEnd: due.toEnd || toEnd, isTalkAlone: due.isTalkAlone && isTalkAlone });

/** Reads what is new, and shows it in place of what is no more. */
async function refresh(wanted = {}) {
  owe(wanted);
  const { signal } = leaving;
  const reading = ++readings;
  let fresh = null;
  try {
    fresh = await read(state.session, state.owner, loaded);
  } catch (error) {
    if (signal.aborted || reading !== readings) return;
    if (error.code !== 404) return showFailure(error);
  }
  if (signal.aborted || reading !== readings) return;
  const before = JSON.stringify([loaded, pending()]);
  if (!fresh && isSpoken()) list(); // It was forgotten elsewhere.
  loaded = fresh ? joined(loaded, fresh) : NOTHING;
  if (!byId("ask").hasChildNodes()) showOwner();
  compare(loaded.messages, loaded.entries);
  showOnList();
  const { toEnd, isTalkAlone } = due;
  due = NOTHING_DUE;
  const isDrawn = !document.querySelector(":is(#talk-body, #picture) :is(.skeleton, .failed)") && before === JSON.stringify([loaded, pending()]);
  if (toEnd || !isDrawn) draw({ toEnd });
  if (!isTalkAlone) loadMemory(signal);
}

/** What could not be read says so, where nothing is shown that was read before. */
function showFailure(error) {
  const retry = () => refresh();
  if (!isSpoken() || byId("talk-body").querySelector(".failed")) fill(byId("talk-body"), failedState(error, retry));
  fill(byId("picture"), failedState(error, retry));
  return loadMemory();
}

/** Who it is that talks, known once the conversation is read, and what may be done as them. */
function showOwner() {
  state.owner = loaded.entries[0]?.userId ?? state.owner ?? state.me.users?.[0] ?? null;
  showPlace(state, false);
  showWhere();
  if (may("write") && state.owner) showAsk(state.session, state.owner, { look: soon, draw });
}

function hear(event) {
  hearStage(event);
  if (["turn", "guidance", "answer", "report"].includes(event.kind)) soon({ isTalkAlone: event.kind === "turn" });
}

/** Reads what is new, once for events that come close together; what lasts is learnt a little later than the answer. */
function soon(wanted) {
  const { signal } = leaving;
  owe(wanted);
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    if (signal.aborted) return;
    const { isTalkAlone } = due;
    await refresh(NOTHING_DUE);
    if (!isTalkAlone) waiting = setTimeout(() => !signal.aborted && loadMemory(signal), SETTLED);
  }, TOGETHER);
}

/** Draws the talk and the role; the talk stays where it is unless `toEnd`, or its end is in sight. */
function draw({ toEnd = false, beyond = 0 }) {
  const body = byId("talk-body");
  const below = body.scrollHeight - body.scrollTop;
  keepingFocus(() => drawParts(beyond));
  showTools();
  if (toEnd || below - body.clientHeight < 80) body.scrollTop = body.scrollHeight;
}

function drawParts(beyond) {
  const { messages, entries, older, hasEarlier, failure } = loaded;
  const decisions = new Map(entries.map((entry) => [entry.turn, entry.decision]));
  const body = byId("talk-body");
  const asOlder = { class: "quiet", "data-testid": "earlier-messages" };
  const said = [older && button(t("earlierMessages"), () => showOlder().catch(say), asOlder), talk(messages, pending(), decisions, openTurn)];
  fill(body, messages.length + pending().length ? said : emptyState(t("noTalk"), t("noTalkMore")));
  fill(byId("belief"), (entries.length > 0 || !failure) && belief(entries.at(-1) ?? null));
  const earlier = hasEarlier ? () => showEarlier().catch(say) : null;
  const picture = entries.length > 0 && evolution(entries, openTurn, earlier, beyond);
  fill(byId("picture"), failure ? failedState(failure, () => refresh()) : picture);
}

const say = (error) => toast(explained(error), "bad");

/** Loads more of what is known with `load(known)`; again, where something else was read meanwhile. False: it was left. */
async function extend(load) {
  const { signal } = leaving;
  for (;;) {
    const known = loaded;
    const more = await load(known);
    if (signal.aborted) return false;
    if (loaded !== known) continue;
    loaded = more;
    return true;
  }
}

async function showOlder() {
  const body = byId("talk-body");
  if (!(await extend(withOlder))) return;
  const below = body.scrollHeight - body.scrollTop;
  draw({});
  body.scrollTop = body.scrollHeight - below;
}

async function showEarlier() {
  if (!(await extend((known) => withEarlier(state.session, state.owner, known)))) return;
  const seen = document.querySelector(".scroller");
  draw({ beyond: seen.scrollWidth - seen.scrollLeft - seen.clientWidth });
}

const openTurn = (turn) => openPoint(turn, loaded);

async function afterForgetting(what) {
  if (what === "role") return select(state.session, state.owner, { stay: true });
  if (what === "user") drop();
  else drop(state.session, state.owner);
  goTo({ filter: state.filter, session: null, owner: null });
  return showAll();
}

function showWhere() {
  const { session, owner } = state;
  const said = session && owner ? told("where", { conversation: session, user: owner }) : session && own(session);
  byId("where").title = [session, session && owner].filter(Boolean).map(isolated).join(" · ");
  fill(byId("where"), said);
}

byId("key-button").onclick = async () => (await askForKey(api.keep, { isChange: true })) && startAfresh();
byId("new-button").onclick = () => openNew(state.owner ?? state.filter, state.me.users, select);
byId("forget-button").onclick = () => openForget(isSpoken() ? state.session : null, state.owner, may("admin"), afterForgetting);
byId("correct-button").onclick = () => openCorrection(state.session, state.owner, loaded.entries.at(-1) ?? null, () => refresh());
byId("add-button").onclick = () => openAdd(state.owner, () => loadMemory());
document.addEventListener("visibilitychange", () => !document.hidden && state.me && state.session && soon({}));
onReturn(goBack);
showView("talk");
api.onKeyNeeded((wasWrong) => askForKey(api.keep, { wasWrong }));
start();
