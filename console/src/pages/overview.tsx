// How the server stands, at a glance.
import { list } from "../api";
import { useAnswer } from "../answer";
import { useNow } from "../clock";
import { ago, brief, count, rate, span } from "../format";
import { failings } from "../happenings";
import { endingSoonest } from "../leases";
import { Badge, Code, Countdown, Empty, Link, Loading, Panel, Table } from "../parts/common";
import { Chart } from "../parts/chart";
import { Title } from "../parts/frame";
import type { Queue, Status } from "../replies";
import { refusal, samples, status, taskTotals } from "../standing";
import { beat, streaming } from "../stream";

function Figure(props: { name: string; value: string; note?: string; tone?: string }) {
  return (
    <div class={`figure ${props.tone ?? ""}`}>
      <dt>{props.name}</dt>
      <dd>
        <b>{props.value}</b>
        {props.note && <span>{props.note}</span>}
      </dd>
    </div>
  );
}

const sum = (parts: Record<string, number>): number => Object.values(parts).reduce((all, each) => all + each, 0);

function Figures(props: { of: Status }) {
  const { server, journal, state, work, clients } = props.of;
  const totals = taskTotals(props.of);
  const expired = sum(work.leases_expired);
  return (
    <dl class="figures">
      <Figure
        name="Role"
        value={server.role === "master" ? "leader" : server.role}
        note={journal.has_room ? `up ${span(server.uptime_in_seconds * 1000)}` : "the disk is full"}
        tone={journal.has_room ? "good" : "bad"}
      />
      <Figure name="Tasks waiting" value={brief(totals["waiting"] ?? 0)} note={`${brief(totals["delayed"] ?? 0)} delayed`} />
      <Figure name="Tasks leased" value={brief(totals["leased"] ?? 0)} note={`${brief(clients.waiters["lease"] ?? 0)} workers wait`} />
      <Figure name="Locks held" value={brief(state.locks)} note={`${brief(clients.waiters["lock"] ?? 0)} wait for one`} />
      <Figure name="Domains" value={brief(state.work_domains)} />
      <Figure name="Leases expired" value={brief(expired)} note="since the start" tone={expired ? "warn" : ""} />
      <Figure
        name="Late reports"
        value={brief(work.late_reports_refused)}
        note="refused"
        tone={work.late_reports_refused ? "warn" : ""}
      />
    </dl>
  );
}

function Charts() {
  const points = samples.value;
  const at = points.map((each) => each.at);
  return (
    <>
      <Panel title="Throughput" note="each second">
        <Chart
          label="Throughput"
          unit="/s"
          at={at}
          lines={[
            { label: "submitted", color: "--chart-1", values: points.map((each) => each.submitted) },
            { label: "granted", color: "--chart-2", values: points.map((each) => each.granted) },
            { label: "completed", color: "--chart-3", values: points.map((each) => each.completed) },
          ]}
        />
      </Panel>
      <Panel title="Sync latency" note="to make a batch durable">
        <Chart
          label="Sync latency"
          unit="ms"
          at={at}
          lines={[
            { label: "mean", color: "--chart-2", values: points.map((each) => each.syncMean) },
            { label: "99 %", color: "--chart-4", values: points.map((each) => each.syncSlowest) },
          ]}
        />
      </Panel>
    </>
  );
}

function Depths() {
  const { value } = useAnswer("overview queues", () => list<Queue>("/v1/queues", "queues", 1000), 2000);
  if (!value) return <Loading />;
  if (!value.entries.length) {
    return (
      <Empty title="No queue yet.">
        <p>A queue is there once a task is submitted to it:</p>
        <Code>{`curl ${location.origin}/v1/queues/mail/tasks -d '{"payload":"hello"}'`}</Code>
        <p>
          Or let <code>tenure demo --live</code> fill this server with work.
        </p>
      </Empty>
    );
  }
  const depth = (queue: Queue): number => queue.waiting + queue.delayed + queue.leased;
  const deepest = [...value.entries].sort((a, b) => depth(b) - depth(a)).slice(0, 8);
  const most = Math.max(1, depth(deepest[0]!));
  return (
    <Table caption="Queues with the most work" head={["Queue", ["Waiting", "number"], ["Leased", "number"], ["Depth", "depth"]]}>
      {deepest.map((queue) => (
        <tr key={queue.queue}>
          <th scope="row">
            <Link to={["queues", queue.queue]}>{queue.queue}</Link> {queue.paused && <Badge word="paused" tone="warn" />}
          </th>
          <td class="number">{brief(queue.waiting + queue.delayed)}</td>
          <td class="number">{brief(queue.leased)}</td>
          <td class="depth">
            <span class="meter" aria-hidden="true"><span style={{ width: `${(100 * depth(queue)) / most}%` }} /></span>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Ending() {
  useNow();
  const leases = endingSoonest(8);
  if (!leases.length) {
    return <Empty title="Nothing is leased."><p>Leases of tasks, domains and locks are here, those first that end soonest.</p></Empty>;
  }
  return (
    <Table caption="Leases about to expire" head={["Lease", "Holder", ["Left", "number"]]}>
      {leases.map((lease) => (
        <tr key={`${lease.kind} ${lease.name}`}>
          <th scope="row" class="name">
            <Badge word={lease.kind} /> <Link to={lease.link}>{lease.name}</Link>
          </th>
          <td class="name">{lease.holder}</td>
          <td class="number">
            <Countdown until={lease.expires} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Failings() {
  void beat.value;
  const present = useNow();
  const seen = failings.value.slice(0, 8);
  if (streaming.value === "refused") {
    return <Empty title="You may not see records."><p>They need the role read or admin for every name.</p></Empty>;
  }
  if (!seen.length) {
    return <Empty title="No failure since this page was opened."><p>Failures, expired leases and late reports appear here as they happen.</p></Empty>;
  }
  return (
    <Table caption="Recent failures" head={["Which", "What happened", ["When", "number"]]}>
      {seen.map((each) => (
        <tr key={each.id}>
          <th scope="row" class="name">
            <Link to={each.link}>{each.name}</Link>
          </th>
          <td>
            {each.what}
            {each.reason && <span class="reason">: {each.reason}</span>}
          </td>
          <td class="number">{ago(present - each.at)}</td>
        </tr>
      ))}
    </Table>
  );
}

export function Overview() {
  const seen = status.value;
  if (!seen && refusal.value) {
    return (
      <>
        <Title>Overview</Title>
        <Empty title="You may not see how the server stands.">
          <p>{refusal.value}</p>
          <p>What your roles allow is on the other pages.</p>
        </Empty>
      </>
    );
  }
  const newest = samples.value[samples.value.length - 1];
  return (
    <>
      <Title beside={newest && <span class="note">{rate(newest.records)} decisions/s, frame {count(seen?.journal.durable_frame ?? 0)}</span>}>
        Overview
      </Title>
      {seen ? <Figures of={seen} /> : <Loading />}
      <div class="grid">
        <Charts />
        <Panel title="Queues" note={<a href="#/queues">all queues</a>}>
          <Depths />
        </Panel>
        <Panel title="Leases about to expire">
          <Ending />
        </Panel>
        <Panel title="Recent failures" wide note="as they happen">
          <Failings />
        </Panel>
      </div>
    </>
  );
}
