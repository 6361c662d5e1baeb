// Numbers and times, as people read them.
import type { Whole } from "./replies";

const grouped = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const count = (value: Whole): string => grouped.format(value);
export const brief = (value: Whole): string => (value < 100_000 ? grouped.format(value) : short.format(value));

export function rate(value: number): string {
  return value < 10 ? value.toFixed(1) : brief(Math.round(value));
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

// 0.35 s, 12 s, 3 min 5 s, 2 h 4 min, 3 d 2 h
export function span(ms: number): string {
  const sign = ms < 0 ? "-" : "";
  ms = Math.abs(ms);
  if (ms < 1000) return `${sign}${Math.round(ms)} ms`;
  if (ms < 10_000) return `${sign}${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${sign}${seconds} s`;
  const pair = (big: number, unit: string, small: number, smaller: string): string =>
    `${sign}${big} ${unit}${small ? ` ${small} ${smaller}` : ""}`;
  if (seconds < 3600) return pair(Math.floor(seconds / 60), "min", seconds % 60, "s");
  if (seconds < 86_400) return pair(Math.floor(seconds / 3600), "h", Math.floor((seconds % 3600) / 60), "min");
  return pair(Math.floor(seconds / 86_400), "d", Math.floor((seconds % 86_400) / 3600), "h");
}

// What is left: whole seconds, so that it does not flicker.
export function left(ms: number): string {
  return ms <= 0 ? "over" : ms < 60_000 ? `${Math.ceil(ms / 1000)} s` : span(Math.ceil(ms / 1000) * 1000);
}

export function ago(ms: number): string {
  return ms < 1500 ? "just now" : `${left(Math.floor(ms / 1000) * 1000)} ago`;
}

const clockTime = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export const time = (at: number): string => clockTime.format(at);
export const timeExactly = (at: number): string => `${clockTime.format(at)}.${String(Math.floor(at % 1000)).padStart(3, "0")}`;
export const dateTime = (at: number): string => dayAndTime.format(at);

// By name, with numbers in it as numbers.
const names = new Intl.Collator("en", { numeric: true });
export function inOrder<T>(entries: T[], nameOf: (entry: T) => string): T[] {
  return [...entries].sort((a, b) => names.compare(nameOf(a), nameOf(b)));
}
