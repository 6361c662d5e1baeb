// The authority's time: leases end by it, not by the browser's clock.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

let ahead = 0; // of the browser's clock, in milliseconds

// The server said that it is this time, in an answer to a question of then.
export function heardTime(at: number, asked: number): void {
  ahead = at - (asked + Date.now()) / 2;
}

export const now = (): number => Date.now() + ahead;

// Ticks four times a second while somebody looks at it.
const ticks = signal(0);
let watchers = 0;
let timer = 0;

export function useNow(): number {
  useEffect(() => {
    if (watchers++ === 0) timer = window.setInterval(() => ++ticks.value, 250);
    return () => {
      if (--watchers === 0) window.clearInterval(timer);
    };
  }, []);
  void ticks.value;
  return now();
}
