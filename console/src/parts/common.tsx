// Small pieces that pages are made of.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Refused } from "../api";
import { useNow } from "../clock";
import { dateTime, left } from "../format";
import { href } from "../router";

export function Link(props: { to: string[]; query?: Record<string, string | undefined>; children: ComponentChildren }) {
  return <a href={href(props.to, props.query)}>{props.children}</a>;
}

export function Panel(props: { title: string; note?: ComponentChildren; children: ComponentChildren; wide?: boolean }) {
  const id = `panel-${props.title.toLowerCase().replace(/\W+/g, "-")}`;
  return (
    <section class={props.wide ? "panel wide" : "panel"} aria-labelledby={id}>
      <header>
        <h2 id={id}>{props.title}</h2>
        {props.note && <span class="note">{props.note}</span>}
      </header>
      {props.children}
    </section>
  );
}

const TONES: Record<string, string> = {
  WAITING: "plain",
  LEASED: "busy",
  COMPLETED: "good",
  FAILED: "bad",
  DEAD: "bad",
  EXPIRED: "warn",
  KILLED: "bad",
  IDLE: "plain",
  IN_FLIGHT: "busy",
};

export function Badge(props: { word: string; tone?: string }) {
  return <span class={`badge ${props.tone ?? TONES[props.word] ?? "plain"}`}>{props.word.replace("_", " ")}</span>;
}

export function Empty(props: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children && <div>{props.children}</div>}
    </div>
  );
}

export function Code(props: { children: string }) {
  return (
    <pre tabIndex={0} aria-label="A command to try">
      <code>{props.children}</code>
    </pre>
  );
}

export function Refusal(props: { of: Refused }) {
  const isAboutRoles = props.of.code === "NOPERM";
  return (
    <Empty title={isAboutRoles ? "You may not see this." : "The server refuses this."}>
      <p>{props.of.message}</p>
      {isAboutRoles && <p>An administrator can give you a role: see docs/security.md.</p>}
    </Empty>
  );
}

export function Loading() {
  return <p class="loading">Asking the server…</p>;
}

// A table that scrolls by itself where the page is narrow; by keyboard, too.
export function Table(props: { caption: string; head: (string | [string, string])[]; children: ComponentChildren }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const box = scroller.current!;
    const measure = (): void => setWide(box.scrollWidth > box.clientWidth + 1);
    const watcher = new ResizeObserver(measure);
    watcher.observe(box);
    watcher.observe(box.firstElementChild!);
    return () => watcher.disconnect();
  }, []);
  return (
    <div
      class="scroll"
      ref={scroller}
      {...(isWide ? { tabIndex: 0, role: "region", "aria-label": `${props.caption}, scrollable` } : {})}
    >
      <table>
        <caption class="unseen">{props.caption}</caption>
        <thead>
          <tr>
            {props.head.map((each) => {
              const [name, kind] = typeof each === "string" ? [each, ""] : each;
              return (
                <th scope="col" class={kind}>
                  {name}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  );
}

// What is left of a lease, and how much of it.
export function Countdown(props: { until: number; from?: number | undefined }) {
  const rest = props.until - useNow();
  const part = props.from === undefined ? null : Math.max(0, Math.min(1, rest / Math.max(1, props.until - props.from)));
  return (
    <span class={rest < 5000 ? "countdown soon" : "countdown"} title={`until ${dateTime(props.until)}`}>
      {part !== null && <span class="meter" aria-hidden="true"><span style={{ width: `${part * 100}%` }} /></span>}
      <span class="left">{left(rest)}</span>
    </span>
  );
}

export function Pager(props: { page: number; hasNext: boolean; onBack: () => void; onNext: () => void; what: string }) {
  if (props.page === 0 && !props.hasNext) return null;
  return (
    <nav class="pager" aria-label={`Pages of ${props.what}`}>
      <button type="button" disabled={props.page === 0} onClick={props.onBack}>
        Previous
      </button>
      <span>Page {props.page + 1}</span>
      <button type="button" disabled={!props.hasNext} onClick={props.onNext}>
        Next
      </button>
    </nav>
  );
}

// Where a listing was begun, page by page: cursors lead forward alone.
export function usePages(key: string) {
  const [state, setState] = useState({ key, cursors: ["0"] });
  const cursors = state.key === key ? state.cursors : ["0"];
  return {
    page: cursors.length - 1,
    cursor: cursors[cursors.length - 1]!,
    next: (cursor: string) => setState({ key, cursors: [...cursors, cursor] }),
    back: () => setState({ key, cursors: cursors.slice(0, -1) }),
  };
}
