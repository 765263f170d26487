// Keeps the stream of a conversation's events open while it is shown.

import * as api from "./api.js";

const SHORTEST_PAUSE = 500;
const LONGEST_PAUSE = 5000;
/** Milliseconds without a stream after which the server is said to be away. */
const AWAY_AFTER = 8000;

/**
 * Calls `hear(event)` for each event until `signal`, over ends of the stream and outages; `opened(isFirst)` where there
 * is a stream, for events before it were missed; `showAway(isAway)` where the server cannot be reached, or can again.
 */
export async function listen(session, user, { hear, opened, showAway }, signal) {
  let pause = SHORTEST_PAUSE;
  let alarm = null;
  let isFirst = true;
  const stopAlarm = () => {
    clearTimeout(alarm);
    alarm = null;
  };
  const isReached = () => {
    stopAlarm();
    showAway(false);
  };
  signal.addEventListener("abort", stopAlarm);
  while (!signal.aborted) {
    alarm ??= setTimeout(() => api.isAskingForKey() || showAway(true), AWAY_AFTER);
    try {
      for await (const event of api.events(session, user, signal)) {
        if (event.kind === "open") {
          isReached();
          opened(isFirst);
          isFirst = false;
          continue;
        }
        hear(event);
        if (event.kind !== "ended") pause = SHORTEST_PAUSE;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error.code >= 400 && error.code < 500) isReached();
      if (error.code === 401) return;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}
