// Numbers, times and lists in the language that is shown.

import { own } from "./dom.js";
import { language, t } from "./words.js";

/** The reader's own form of the language that is shown, such as en-GB. */
const locale = () => navigator.languages.find((tag) => tag.split("-")[0] === language().split("-")[0]) ?? language();

export function moment(iso) {
  return iso ? new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(iso)) : "–";
}

/** Short: the time of today, else the day. */
export function day(iso) {
  const then = new Date(iso);
  const today = then.toDateString() === new Date().toDateString();
  const style = today ? { timeStyle: "short" } : { month: "short", day: "numeric" };
  return new Intl.DateTimeFormat(locale(), style).format(then);
}

export const percent = (share) => new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: 0 }).format(share);

export const number = (value, digits = 2) => new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value);

export function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${number(milliseconds / 1000, 1)} s`;
}

const lists = () => new Intl.ListFormat(locale(), { type: "unit" });

export const list = (names) => (names.length ? lists().format(names) : t("none"));

/** The same as nodes, each name apart from its neighbours. */
export const listed = (names) => lists().formatToParts(names).map(({ type, value }) => (type === "element" ? own(value) : value));

/** What `text` holds between commas, Chinese ones too. */
export const named = (text) => text.split(/[,，、;；\n]/).map((name) => name.trim()).filter(Boolean);

/** The start of long words, for where they are but named. */
export function short(words, most = 40) {
  const letters = [...words];
  return letters.length > most ? `${letters.slice(0, most - 1).join("").trimEnd()}…` : words;
}
