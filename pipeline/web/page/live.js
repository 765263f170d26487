// Keeps the stream of a conversation's events open while it is shown.

import * as api from "./api.js";

const SHORTEST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;

/** Calls `hear(event)` for each event until `signal`, over ends of the stream and outages. */
export async function listen(session, user, hear, signal) {
  let pause = SHORTEST_PAUSE;
  while (!signal.aborted) {
    try {
      for await (const event of api.events(session, user, signal)) {
        hear(event);
        if (event.kind !== "ended") pause = SHORTEST_PAUSE;
      }
    } catch (error) {
      if (error.code === 401) return;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}
