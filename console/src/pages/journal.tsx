// The journal's records as they happen.
import { useEffect, useRef, useState } from "preact/hooks";
import { count, rate, timeExactly } from "../format";
import { Badge, Empty, Link, Table } from "../parts/common";
import { Title } from "../parts/frame";
import type { Told } from "../replies";
import { beat, type Heard, listen, streaming } from "../stream";

const KEPT = 1000; // of those that pass the filter
const SHOWN = 100;

const BOOKS: Record<string, RegExp> = {
  tasks: /^(Task|Lease|Queue)/,
  work: /^Work/,
  locks: /^Lock/,
  server: /^(Forgotten|FenceRaised|DigestTaken)/,
};

const TONES: [RegExp, string][] = [
  [/Completed|Succeeded/, "good"],
  [/Failed|Dead|GivenUp|Forced/, "bad"],
  [/Expired|Cancelled|Retried/, "warn"],
  [/Granted|Acquired|Extended|Reentered/, "busy"],
];
const toneOf = (record: string): string => TONES.find(([pattern]) => pattern.test(record))?.[1] ?? "plain";

function passes(told: Told, book: string, text: string): boolean {
  if (book && !BOOKS[book]!.test(told.record)) return false;
  return !text || JSON.stringify(told).toLowerCase().includes(text);
}

// What the record is about, and the rest of its fields.
function Subject(props: { of: Told }) {
  const { task_id, identifier, domain, offset, queue } = props.of;
  if (task_id) return <Link to={["tasks", task_id]}>{task_id}</Link>;
  if (identifier) return <>{`${domain}::${identifier}`}</>;
  if (domain) return <><Link to={["domains", domain]}>{domain}</Link>{offset !== undefined && ` @ ${offset}`}</>;
  if (queue) return <Link to={["queues", queue]}>{queue}</Link>;
  return <>–</>;
}

const TOLD_ELSEWHERE = new Set(["record", "at", "task_id", "domain", "identifier", "offset", "created_at", "granted_at", "acquired_at"]);
const INSTANTS = /(_expiry|_at|not_before)$/;

function details(told: Told): string {
  return Object.entries(told)
    .filter(([name]) => !TOLD_ELSEWHERE.has(name))
    .map(([name, value]) => {
      const text = INSTANTS.test(name) && typeof value === "number" ? timeExactly(value) : typeof value === "object" ? JSON.stringify(value) : String(value);
      return `${name} ${text}`;
    })
    .join(", ");
}

// A ring of what passed the filter, filled without drawing anything.
class Reel {
  private readonly kept: Heard[] = [];
  private next = 0;
  heard = 0;
  passed = 0;

  take(heard: Heard): void {
    this.kept[this.next] = heard;
    this.next = (this.next + 1) % KEPT;
    ++this.passed;
  }

  newest(most: number): Heard[] {
    const found: Heard[] = [];
    for (let back = 1; back <= Math.min(most, this.kept.length); ++back) found.push(this.kept[(this.next - back + KEPT) % KEPT]!);
    return found;
  }
}

function useReel(book: string, text: string): Reel {
  const kept = useRef({ reel: new Reel(), book, text });
  // Of what was kept, that which does not pass another filter is left out.
  if (kept.current.book !== book || kept.current.text !== text) {
    const reel = new Reel();
    reel.heard = kept.current.reel.heard;
    for (const heard of kept.current.reel.newest(KEPT).reverse()) if (passes(heard.told, book, text)) reel.take(heard);
    kept.current = { reel, book, text };
  }
  useEffect(
    () =>
      listen((heard) => {
        const { reel, book: wanted, text: part } = kept.current;
        ++reel.heard;
        if (passes(heard.told, wanted, part)) reel.take(heard);
      }),
    [],
  );
  return kept.current.reel;
}

function useRate(heard: number): number {
  const before = useRef({ at: performance.now(), heard, rate: 0 });
  const passed = performance.now() - before.current.at;
  if (passed >= 1000) before.current = { at: performance.now(), heard, rate: (1000 * (heard - before.current.heard)) / passed };
  return before.current.rate;
}

function emptyTitle(heard: number, isListening: boolean): string {
  if (heard) return "No record that has come passes the filter.";
  return isListening ? "No record has come since this page was opened." : "Records do not come yet.";
}

export function Journal() {
  const [book, setBook] = useState("");
  const [text, setText] = useState("");
  const [frozen, setFrozen] = useState<{ rows: Heard[]; passed: number } | null>(null);
  void beat.value;
  const reel = useReel(book, text.toLowerCase());
  const speed = useRate(reel.heard);
  const isListening = streaming.value === "on";
  const rows = frozen?.rows.filter((each) => passes(each.told, book, text.toLowerCase())) ?? reel.newest(SHOWN);
  if (streaming.value === "refused") {
    return (
      <>
        <Title>Journal</Title>
        <Empty title="You may not see the journal."><p>It tells of every name: it needs the role read or admin without a pattern.</p></Empty>
      </>
    );
  }
  return (
    <>
      <Title beside={<span class="note">{isListening ? `${rate(speed)} records/s` : "connecting"}</span>}>Journal</Title>
      <form class="search" role="search" onSubmit={(event) => event.preventDefault()}>
        <label class="field inline">
          <span>Book</span>
          <select value={book} onChange={(event) => setBook(event.currentTarget.value)}>
            <option value="">all</option>
            {Object.keys(BOOKS).map((each) => <option value={each}>{each}</option>)}
          </select>
        </label>
        <label class="field inline">
          <span>Contains</span>
          <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button
          type="button"
          aria-pressed={frozen !== null}
          onClick={() => setFrozen(frozen ? null : { rows: reel.newest(SHOWN), passed: reel.passed })}
        >
          {frozen ? "Go on" : "Pause"}
        </button>
        {frozen && <span class="note">paused; {count(Math.max(0, reel.passed - frozen.passed))} more meanwhile</span>}
        {!frozen && reel.passed > SHOWN && <span class="note">the newest {SHOWN} of {count(reel.passed)}</span>}
      </form>
      <section class="panel" aria-label="Records">
        {rows.length ? (
          <Table caption="Records, the newest first" head={["Time", "Record", "About", "Details"]}>
            {rows.map(({ id, told }) => (
              <tr key={id}>
                <td class="time">{timeExactly(told.at)}</td>
                <td><Badge word={told.record} tone={toneOf(told.record)} /></td>
                <th scope="row" class="name about"><Subject of={told} /></th>
                <td class="details">{details(told)}</td>
              </tr>
            ))}
          </Table>
        ) : (
          <Empty title={emptyTitle(reel.heard, isListening)}>
            <p>
              Records appear here once they are durable. What happened before is in the data folder: <code>tenure journal dump FOLDER</code> tells it.
              {" "}<code>tenure demo --live</code> makes something happen.
            </p>
          </Empty>
        )}
      </section>
    </>
  );
}
