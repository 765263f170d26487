// What is read of a conversation, its messages and its track, and how what is new joins what is known.

import * as api from "./api.js";

/** So many turns of the track are read at once. */
const TURNS = 200;

/** Of a conversation of which nothing is known: also where older messages are, and why the track could not be read. */
export const NOTHING = Object.freeze({ messages: [], older: null, entries: [], hasEarlier: false, failure: null });

/** Reads the last messages, and the track from the newest entry of `known` on, or all of its end where that is gone. */
export async function read(session, user, known) {
  const { data, next } = await api.messages(session, user);
  const last = data.at(-1)?.metadata.turn ?? 0;
  try {
    return { messages: data, older: next, track: await readTrack(session, user, known.entries.at(-1), last) };
  } catch (failure) {
    return { messages: data, older: next, track: { failure } };
  }
}

async function readTrack(session, user, newest, last) {
  if (newest) {
    const entries = await turnsAfter(session, user, newest.turn - 1);
    if (entries[0]?.questionId === newest.questionId && entries.length < TURNS) return { entries, from: newest.turn };
  }
  const entries = await turnsAfter(session, user, Math.max(0, last - TURNS));
  return { entries, from: 0, hasEarlier: entries.length >= TURNS };
}

/** The track documents after the turn `after`, each with what learning from it cost. */
async function turnsAfter(session, user, after) {
  const { data } = await api.track(session, user, after, TURNS);
  return data.map((item) => ({ ...JSON.parse(item.text), cost: item.metadata.cost }));
}

/** What is known after `fresh` was read: what `fresh` does not go on from was forgotten meanwhile, or left far behind. */
export function joined(known, { messages, older, track }) {
  return { ...joinedMessages(known, messages, older), ...joinedTrack(known, track) };
}

function joinedMessages(known, messages, older) {
  const had = new Set(known.messages.map(({ metadata }) => metadata.messageId));
  const goesOn = messages.some(({ metadata }) => had.has(metadata.messageId));
  const before = goesOn && older ? known.messages.filter(({ metadata }) => metadata.turn < messages[0].metadata.turn) : [];
  return before.length ? { messages: [...before, ...messages], older: known.older } : { messages, older };
}

function joinedTrack(known, { entries = [], from = Infinity, hasEarlier = known.hasEarlier, failure = null }) {
  return { entries: [...known.entries.filter((entry) => entry.turn < from), ...entries], hasEarlier, failure };
}

/** With the page of messages before those that are known. */
export async function withOlder(known) {
  if (!known.older) return known;
  const { data, next } = await api.page(known.older);
  return { ...known, messages: [...data, ...known.messages], older: next };
}

/** With the turns of the track before those that are known. */
export async function withEarlier(session, user, known) {
  if (!known.hasEarlier) return known;
  const first = known.entries[0].turn;
  const entries = (await turnsAfter(session, user, Math.max(0, first - 1 - TURNS))).filter((entry) => entry.turn < first);
  return { ...known, entries: [...entries, ...known.entries], hasEarlier: entries.length >= TURNS };
}
