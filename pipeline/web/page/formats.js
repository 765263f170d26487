// Numbers, times and lists in the language that is shown.

import { language, t } from "./words.js";

export function moment(iso) {
  return iso ? new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(iso)) : "–";
}

/** Short: the time of today, else the day. */
export function day(iso) {
  const then = new Date(iso);
  const today = then.toDateString() === new Date().toDateString();
  const style = today ? { timeStyle: "short" } : { month: "short", day: "numeric" };
  return new Intl.DateTimeFormat(language(), style).format(then);
}

export const percent = (share) => new Intl.NumberFormat(language(), { style: "percent", maximumFractionDigits: 0 }).format(share);

export const number = (value, digits = 2) => new Intl.NumberFormat(language(), { maximumFractionDigits: digits }).format(value);

export function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${number(milliseconds / 1000, 1)} s`;
}

export const list = (names) => (names.length ? new Intl.ListFormat(language(), { type: "unit" }).format(names) : t("none"));

/** What `text` holds between commas, Chinese ones too. */
export const named = (text) => text.split(/[,，、;；\n]/).map((name) => name.trim()).filter(Boolean);
