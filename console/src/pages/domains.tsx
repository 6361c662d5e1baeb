// Domains of work leases, and one of them.
import { useState } from "preact/hooks";
import { get, list, path } from "../api";
import { useAnswer } from "../answer";
import { brief, count, dateTime, inOrder } from "../format";
import { Badge, Code, Countdown, Empty, Link, Loading, Pager, Panel, Refusal, Table, usePages } from "../parts/common";
import { Title } from "../parts/frame";
import type { Domain, Interval, Whole } from "../replies";
import { go } from "../router";

const PAGE = 25;

const inspect = (name: string): Promise<Domain> => get<Domain>(path("v1", "work", name));

async function readPage(cursor: string): Promise<{ domains: Domain[]; cursor: string }> {
  const page = await list<string>("/v1/work", "domains", PAGE, { cursor });
  const domains = await Promise.all(page.entries.map((name) => inspect(name).catch(() => null)));
  return { domains: domains.filter((each) => each !== null), cursor: page.cursor };
}

function FindDomain() {
  const [name, setName] = useState("");
  const find = (event: Event): void => {
    event.preventDefault();
    if (name) go(["domains", name]);
  };
  return (
    <form class="search" role="search" onSubmit={find}>
      <label class="field inline">
        <span>Domain</span>
        <input type="search" value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <button type="submit">Open</button>
    </form>
  );
}

export function Domains() {
  const pages = usePages("domains");
  const { value, refusal } = useAnswer(`domains ${pages.cursor}`, () => readPage(pages.cursor), 2000);
  return (
    <>
      <Title beside={<FindDomain />}>Domains</Title>
      {refusal && !value ? <Refusal of={refusal} /> : !value ? <Loading /> : !value.domains.length && pages.page === 0 ? (
        <Empty title="No domain yet.">
          <p>A domain holds the offsets of somebody's log that must be done one at a time, in order. It is there once one is acquired:</p>
          <Code>{`curl ${location.origin}/v1/work/account-7/acquire -d '{"offset":1}'`}</Code>
        </Empty>
      ) : (
        <section class="panel" aria-label="Domains">
          <Table
            caption="Domains"
            head={["Domain", "State", ["Offset", "number"], ["Retries", "number"], ["Backlog", "number"], ["Done", "number"], ["Failed", "number"]]}
          >
            {inOrder(value.domains, (each) => each.domain).map((each) => (
              <tr key={each.domain}>
                <th scope="row" class="name"><Link to={["domains", each.domain]}>{each.domain}</Link></th>
                <td><Badge word={each.state} /></td>
                <td class="number">{each.offset === null ? "–" : count(each.offset)}</td>
                <td class={each.retry_count ? "number warn-text" : "number"}>{each.retry_count ?? "–"}</td>
                <td class="number">{brief(each.backlog)}</td>
                <td class="number">{brief(each.processed)}</td>
                <td class={each.failed ? "number bad-text" : "number"}>{brief(each.failed)}</td>
              </tr>
            ))}
          </Table>
          <Pager what="domains" page={pages.page} hasNext={value.cursor !== "0"} onBack={pages.back} onNext={() => pages.next(value.cursor)} />
        </section>
      )}
    </>
  );
}

// --- one domain ---

// Where on the line of all offsets things are: done, given up, in flight, waiting.
function Strip(props: { of: Domain; intervals: Interval[]; failed: Whole[]; backlog: Whole[] }) {
  const { of: domain, intervals, failed, backlog } = props;
  const all = [
    ...intervals.flatMap(({ first, last }) => [first, last]),
    ...failed,
    ...backlog,
    ...(domain.offset === null ? [] : [domain.offset]),
  ].map(Number);
  if (!all.length) return null;
  const low = Math.min(...all);
  const width = Math.max(...all) - low + 1;
  const x = (offset: Whole): number => (1000 * (Number(offset) - low)) / width;
  const wide = (first: Whole, last: Whole): number => Math.max(2, (1000 * (Number(last) - Number(first) + 1)) / width);
  const bar = (kind: string, first: Whole, last: Whole) => <rect class={kind} x={x(first)} y="0" width={wide(first, last)} height="20" />;
  return (
    <figure class="strip">
      <svg viewBox="0 0 1000 20" preserveAspectRatio="none" role="img"
        aria-label={`Offsets ${low} to ${low + width - 1}: ${intervals.length} done intervals, ${failed.length} given up, ${backlog.length} in the backlog`}>
        {intervals.map(({ first, last }) => bar("completed", first, last))}
        {backlog.map((offset) => bar("waiting", offset, offset))}
        {failed.map((offset) => bar("failed", offset, offset))}
        {domain.offset !== null && bar("leased", domain.offset, domain.offset)}
      </svg>
      <figcaption>
        <span>{count(low)}</span>
        <span class="legend">
          <span class="key"><i class="swatch completed" /> done</span>
          <span class="key"><i class="swatch leased" /> in flight</span>
          <span class="key"><i class="swatch waiting" /> backlog</span>
          <span class="key"><i class="swatch failed" /> given up</span>
        </span>
        <span>{count(low + width - 1)}</span>
      </figcaption>
    </figure>
  );
}

interface Depths {
  domain: Domain;
  intervals: { entries: Interval[]; cursor: string };
  failed: { entries: Whole[]; cursor: string };
  backlog: { entries: Whole[]; cursor: string };
}

async function readDomain(name: string): Promise<Depths> {
  const [domain, intervals, failed, backlog] = await Promise.all([
    inspect(name),
    list<Interval>(path("v1", "work", name, "done"), "intervals", 100),
    list<Whole>(path("v1", "work", name, "failed"), "offsets", 100),
    list<Whole>(path("v1", "work", name, "backlog"), "offsets", 100),
  ]);
  return { domain, intervals, failed, backlog };
}

function Offsets(props: { title: string; of: { entries: Whole[]; cursor: string }; all: number; none: string }) {
  return (
    <Panel title={props.title} note={count(props.all)}>
      {props.of.entries.length ? (
        <p class="offsets">
          {props.of.entries.map((each) => <span>{count(each)}</span>)}
          {props.of.cursor !== "0" && <span class="note">and more</span>}
        </p>
      ) : (
        <Empty title={props.none} />
      )}
    </Panel>
  );
}

export function DomainPage(props: { name: string }) {
  const { value, refusal } = useAnswer(`domain ${props.name}`, () => readDomain(props.name), 2000);
  const above = <a href="#/domains">Domains</a>;
  if (refusal?.code === "NOTFOUND" && !value) {
    return <><Title above={above}>{props.name}</Title><Empty title="There is no such domain."><p>Nothing was acquired in it yet.</p></Empty></>;
  }
  if (!value) return <><Title above={above}>{props.name}</Title>{refusal ? <Refusal of={refusal} /> : <Loading />}</>;
  const { domain, intervals, failed, backlog } = value;
  return (
    <>
      <Title above={above} beside={<Badge word={domain.state} />}>{domain.domain}</Title>
      <Panel title="Offsets" note={intervals.cursor === "0" ? undefined : "the first 100 intervals"}>
        <Strip of={domain} intervals={intervals.entries} failed={failed.entries} backlog={backlog.entries} />
        <dl class="facts">
          <div><dt>Current offset</dt><dd>{domain.offset === null ? "–" : count(domain.offset)}</dd></div>
          <div><dt>Retry count</dt><dd class={domain.retry_count ? "warn-text" : ""}>{domain.retry_count ?? "–"}</dd></div>
          <div><dt>Fence</dt><dd>{domain.fence === null ? "–" : String(domain.fence)}</dd></div>
          <div><dt>Acquired</dt><dd>{domain.acquired_at === null ? "–" : dateTime(domain.acquired_at)}</dd></div>
          <div>
            <dt>Lease ends in</dt>
            <dd>{domain.expires_at !== null ? <Countdown until={domain.expires_at} /> : domain.state === "IN_FLIGHT" ? "held until reported" : "–"}</dd>
          </div>
          <div><dt>Backlog</dt><dd>{count(domain.backlog)}</dd></div>
          <div><dt>Done</dt><dd>{count(domain.processed)}</dd></div>
          <div><dt>Done below</dt><dd>{count(domain.trimmed_below)}</dd></div>
        </dl>
      </Panel>
      <div class="grid narrow">
        <Panel title="Done intervals" note={count(domain.processed)}>
          {intervals.entries.length ? (
            <p class="offsets">
              {intervals.entries.map(({ first, last }) => <span>{first === last ? count(first) : `${count(first)} – ${count(last)}`}</span>)}
              {intervals.cursor !== "0" && <span class="note">and more</span>}
            </p>
          ) : (
            <Empty title="Nothing is done yet." />
          )}
        </Panel>
        <Offsets title="Backlog" of={backlog} all={domain.backlog} none="Nothing waits for its turn." />
        <Offsets title="Given up" of={failed} all={domain.failed} none="No offset was given up." />
      </div>
    </>
  );
}
