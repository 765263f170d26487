// The switches of the page's head: language, theme, and on a phone the view.

import { byId } from "./dom.js";
import { switchLanguage, t, translate } from "./words.js";

/** Shows the switches; `draw()` runs after the language has changed. */
export function showSwitches(draw) {
  translate();
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const other = t(isDark ? "themeLight" : "themeDark");
  byId("language-button").textContent = t("language");
  byId("language-button").lang = t("languageCode");
  byId("language-button").onclick = () => {
    switchLanguage();
    showSwitches(draw);
    draw();
  };
  byId("theme-button").textContent = other;
  byId("theme-button").setAttribute("aria-label", t("themeSwitch", { theme: other }));
  byId("theme-button").onclick = () => {
    root.dataset.theme = isDark ? "light" : "dark";
    localStorage.setItem("rolestream.theme", root.dataset.theme);
    showSwitches(draw);
  };
  byId("skip").onclick = (event) => {
    event.preventDefault();
    showView("talk");
    byId("talk").focus();
  };
  byId("views").onclick = (event) => event.target.dataset.show && showView(event.target.dataset.show);
}

export function showView(view) {
  document.body.dataset.view = view;
  scrollTo(0, 0);
  for (const node of byId("views").children) {
    if (node.dataset.show === view) node.setAttribute("aria-current", "true");
    else node.removeAttribute("aria-current");
  }
}
