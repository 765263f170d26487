// What the shapes of the picture mean.

import { h, s } from "./dom.js";
import { DECISIONS, mark } from "./marks.js";
import { t } from "./words.js";

function sample(...shapes) {
  return s("svg", { class: "inline-mark", viewBox: "0 0 28 20", width: 26, height: 18, "aria-hidden": "true" }, shapes);
}

const bar = (kind, height) => sample(s("rect", { class: `stay ${kind}`, x: 1, y: 10 - height / 2, width: 26, height, rx: 2 }));
const chip = (kind) => sample(s("g", { class: `chip ${kind}` }, s("rect", { x: 2, y: 3, width: 24, height: 14, rx: 5 })));

export function legend() {
  const entries = [
    ...DECISIONS.map((decision) => [mark(decision), t(decision)]),
    [bar("lead-stated", 10), t("legendLeadStated")],
    [bar("lead-inferred", 10), t("legendLeadInferred")],
    [bar("other-stated", 5), t("legendOther")],
    [chip("chip-asked"), t("asked")],
    [chip("chip-inferred"), t("inferred")],
    [chip("chip-turn"), t("legendTurn")],
    [sample(s("line", { class: "move", x1: 14, x2: 14, y1: 1, y2: 19 })), t("legendMove")],
  ];
  return h("ul", { class: "legend", "aria-label": t("legend") }, entries.map(([picture, words]) => h("li", {}, picture, h("span", {}, words))));
}
