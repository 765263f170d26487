// Speaks to the HTTP API: the envelope, the key, pages, and the stream of events.

import { t } from "./words.js";

const KEY = "rolestream.key";
const MEMORY = "/api/user/memory";

/** What the API refused: its status, its sentence or one of ours, and of 422 the fields. */
export class Refused extends Error {
  constructor(code, message, { data = null, isServers = false } = {}) {
    super(message);
    Object.assign(this, { code, data, isServers });
  }
}

let askForKey = async () => false;
let asking = null;

/** `ask(wasWrong)` gets a key from the user and says whether there is one now; it is asked once at a time. */
export function onKeyNeeded(ask) {
  askForKey = (wasWrong) => (asking ??= ask(wasWrong).finally(() => (asking = null)));
}

export const isAskingForKey = () => asking !== null;

export const keep = (key) => sessionStorage.setItem(KEY, key);

function withKey(headers) {
  const key = sessionStorage.getItem(KEY);
  return key ? { ...headers, Authorization: `Bearer ${key}` } : headers;
}

async function send(path, options) {
  for (;;) {
    const used = sessionStorage.getItem(KEY);
    let response;
    try {
      response = await fetch(path, { ...options, headers: withKey(options.headers ?? {}), credentials: "omit" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refused(0, t("offline"));
    }
    if (response.status !== 401) return response;
    const current = sessionStorage.getItem(KEY);
    if (current !== used) continue;
    if (!(await askForKey(Boolean(used)))) throw new Refused(401, t("keyTitle"));
  }
}

function pathWith(path, query = {}) {
  const asked = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return asked.length ? `${path}?${new URLSearchParams(asked)}` : path;
}

/** The envelope's data, with the HTTP status and where the next page is. */
async function call(method, path, { query, body, headers = {}, signal } = {}) {
  const options = { method, signal, headers: { Accept: "application/json", ...headers } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await send(pathWith(path, query), options);
  const envelope = await response.json().catch(() => null);
  if (!response.ok) {
    const message = envelope?.message || t("unexpected", { code: response.status });
    throw new Refused(response.status, message, { data: envelope?.data, isServers: Boolean(envelope?.message) });
  }
  return { code: response.status, data: envelope?.data ?? null, next: nextPage(response.headers.get("Link")) };
}

function nextPage(link) {
  return /<([^>]+)>;\s*rel="?next"?/.exec(link ?? "")?.[1] ?? null;
}

const of = (session, user) => ({ session_id: session, user_id: user });

export const me = () => call("GET", "/api/me");
export const page = (path, signal) => call("GET", path, { signal });
export const conversations = (user) => call("GET", "/api/conversations", { query: { user_id: user, limit: 30 } });
export const messages = (session, user) => call("GET", `${MEMORY}/conversation`, { query: { ...of(session, user), limit: 40 } });
export const track = (session, user, after, limit) => call("GET", `${MEMORY}/track`, { query: { ...of(session, user), after, limit } });
export const summary = (session, user) => call("GET", `${MEMORY}/summary`, { query: of(session, user) });
export const guidance = (session, user) => call("GET", `${MEMORY}/guidance`, { query: of(session, user) });
export const profile = (user) => call("GET", `${MEMORY}/profile`, { query: { user_id: user } });
export const features = (user, status, limit) => call("GET", `${MEMORY}/list`, { query: { user_id: user, status, limit } });
/** Refused with 412 where something is kept under the slot, unless it `replaces`. */
export const add = (user, body, replaces) =>
  call("POST", `${MEMORY}/add`, { query: { user_id: user }, body, headers: replaces ? {} : { "If-None-Match": "*" } });
export const edit = (user, feature, body) =>
  call("PUT", `${MEMORY}/${encodeURIComponent(feature.featureId)}`, { query: { user_id: user }, body, headers: { "If-Match": `"${feature.version}"` } });
export const remove = (user, feature) =>
  call("DELETE", `${MEMORY}/delete/${encodeURIComponent(feature.featureId)}`, { query: { user_id: user }, headers: { "If-Match": `"${feature.version}"` } });
export const correct = (session, user, body) => call("POST", `${MEMORY}/correct`, { query: of(session, user), body });
export const forgetRole = (session, user) => call("POST", `${MEMORY}/delete`, { query: of(session, user) });
export const forget = (user, session) => call("POST", `${MEMORY}/forget`, { query: { user_id: user, session_id: session } });
export const ask = (body) => call("POST", "/api/questions", { body });
export const answer = (question, session, user) => call("GET", `/api/answers/${encodeURIComponent(question)}`, { query: of(session, user) });

/** The conversation's events as they come: {kind, data}, first that it is open; ends with the server or with `signal`. */
export async function* events(session, user, signal) {
  const path = pathWith("/api/events", { ...of(session, user), within: 3600 });
  const response = await send(path, { signal, headers: { Accept: "text/event-stream" } });
  if (!response.ok) throw new Refused(response.status, t("unexpected", { code: response.status }));
  yield { kind: "open", data: null };
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).replace(/\r\n/g, "\n").split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = readEvent(block);
      if (event) yield event;
    }
  }
}

function readEvent(block) {
  let kind = "message";
  const lines = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) kind = line.slice(6).trim();
    else if (line.startsWith("data:")) lines.push(line.slice(5).trimStart());
  }
  if (!lines.length && kind === "message") return null;
  try {
    return { kind, data: JSON.parse(lines.join("\n") || "null") };
  } catch {
    return null;
  }
}
