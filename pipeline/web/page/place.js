// Where the page is: its address and title, and the steps that Back takes.

import { isolated } from "./dom.js";

/** What the address names. */
export function placeOfAddress() {
  const named = new URLSearchParams(location.search);
  return { filter: named.get("user_id"), session: named.get("session_id"), owner: named.get("user_id") };
}

/** Writes what is shown into the address and the title, `asStep`: so that Back goes to what was shown before. */
export function showPlace({ filter, session, owner }, asStep) {
  const named = Object.entries({ session_id: session, user_id: owner ?? filter }).filter(([, value]) => value);
  const address = named.length ? `?${new URLSearchParams(named)}` : location.pathname;
  const place = { filter, session, owner };
  if (asStep && address !== (location.search || location.pathname)) {
    history.replaceState({ ...history.state, view: document.body.dataset.view }, "");
    history.pushState(place, "", address);
  } else history.replaceState({ ...history.state, ...place }, "", address);
  document.title = session ? `${isolated(session)} · Rolestream` : "Rolestream";
}

/** `show(place)` shows a place that Back or Forward leads to; it has a `view` where one was shown there. */
export function onReturn(show) {
  addEventListener("popstate", ({ state }) => show(state ?? placeOfAddress()));
}
