// What stands around every page: where you are, who you are, and whether the server answers.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isStranger, link } from "../api";
import { useNow } from "../clock";
import { ago } from "../format";
import { href, place } from "../router";
import { isSignedIn, signOut, user } from "../session";
import { status } from "../standing";
import { type Theme, theme } from "../theme";

const PAGES: [string, string][] = [
  ["", "Overview"],
  ["queues", "Queues"],
  ["domains", "Domains"],
  ["locks", "Locks"],
  ["workers", "Workers"],
  ["journal", "Journal"],
  ["cluster", "Cluster"],
];

function Health() {
  const seen = status.value;
  const { state } = link.value;
  if (state === "lost") return <span class="health bad">no answer</span>;
  if (state === "connecting") return <span class="health plain">connecting</span>;
  if (seen?.server.stopping) return <span class="health warn">stopping</span>;
  if (seen && !seen.journal.has_room) return <span class="health bad">disk full</span>;
  return <span class="health good">healthy</span>;
}

// Said out loud where somebody listens.
function LinkBanner() {
  const { state, since } = link.value;
  return (
    <div role="status" aria-live="polite">
      {state === "lost" && <LostBanner since={since} />}
    </div>
  );
}

function LostBanner(props: { since: number }) {
  useNow();
  return (
    <p class="banner">
      <b>The server does not answer.</b> What you see is what it said last, {ago(Date.now() - props.since)}. It is asked again every
      second.
    </p>
  );
}

function ThemeChoice() {
  return (
    <label class="theme">
      <span class="unseen">Theme</span>
      <select value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
        <option value="system">System theme</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}

// The page's name takes the focus when another one comes, so that it is read out.
function useFocusOnTitle(where: string): void {
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    const title = document.querySelector<HTMLElement>("h1");
    title?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [where]);
}

export function Frame(props: { children: ComponentChildren }) {
  const here = place.value.segments[0] ?? "";
  const current = here === "tasks" ? "queues" : here;
  useFocusOnTitle(place.value.segments.join("/"));
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.querySelector<HTMLElement>("h1")?.focus())}>
        Skip to the page
      </a>
      <header class="top">
        <a class="brand" href="#/" aria-label="Tenure, to the overview">
          <img src="/console.svg" alt="" width="26" height="26" />
          Tenure
        </a>
        <Health />
        <span class="push" />
        {user.value?.user && <span class="who">{user.value.user}</span>}
        {isSignedIn() && !isStranger.value && (
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        )}
        <ThemeChoice />
      </header>
      <nav class="side" aria-label="Pages">
        {PAGES.map(([to, name]) => (
          <a href={href(to ? [to] : [])} {...(current === to ? { "aria-current": "page" as const } : {})}>
            {name}
          </a>
        ))}
      </nav>
      <main id="main">
        <LinkBanner />
        {props.children}
      </main>
    </div>
  );
}

export function Title(props: { children: ComponentChildren; above?: ComponentChildren; beside?: ComponentChildren }) {
  return (
    <div class="title">
      {props.above && <p class="above">{props.above}</p>}
      <div class="title-row">
        <h1 tabIndex={-1}>{props.children}</h1>
        {props.beside}
      </div>
    </div>
  );
}
