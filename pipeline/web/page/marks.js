// The mark of a decision: a shape and a colour of its own, so that neither is needed alone.

import { s } from "./dom.js";

export const DECISIONS = ["CREATE", "UPDATE", "NONE_CHANGE", "SKIPPED", "FAILED"];

/** The shape of `decision` around (x, y), some 12 units wide. */
export function shape(decision, x, y) {
  const kind = { class: `mark mark-${decision}` };
  switch (decision) {
    case "CREATE":
      return s("path", { ...kind, d: star(x, y) });
    case "UPDATE":
      return s("circle", { ...kind, cx: x, cy: y, r: 5.5 });
    case "NONE_CHANGE":
      return s("path", { ...kind, d: `M${x} ${y - 6.5}l6.5 6.5l-6.5 6.5l-6.5 -6.5z` });
    case "SKIPPED":
      return s("rect", { ...kind, x: x - 6, y: y - 2.5, width: 12, height: 5, rx: 2 });
    default:
      return s("path", { ...kind, d: `M${x - 5} ${y - 5}l10 10M${x + 5} ${y - 5}l-10 10` });
  }
}

function star(x, y) {
  const corners = Array.from({ length: 10 }, (_, at) => {
    const angle = (Math.PI * at) / 5 - Math.PI / 2;
    const radius = at % 2 ? 3.4 : 8;
    return `${(x + radius * Math.cos(angle)).toFixed(2)} ${(y + radius * Math.sin(angle)).toFixed(2)}`;
  });
  return `M${corners.join("L")}z`;
}

/** The mark as a picture of its own, for a line of text. */
export function mark(decision) {
  return s("svg", { class: "inline-mark", viewBox: "0 0 20 20", width: 18, height: 18, "aria-hidden": "true" }, shape(decision, 10, 10));
}
