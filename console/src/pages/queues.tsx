// Queues, and the tasks of one.
import { useState } from "preact/hooks";
import { list, path, post } from "../api";
import { useAnswer } from "../answer";
import { brief, count } from "../format";
import { Badge, Code, Empty, Link, Loading, Pager, Refusal, Table, usePages } from "../parts/common";
import { Title } from "../parts/frame";
import { type Queue, TASK_STATES, type TaskEntry } from "../replies";
import { go, place } from "../router";
import { may } from "../session";

const PAGE = 50;
const QUEUES_MAX = 10_000;

function FindTask() {
  const [id, setId] = useState("");
  const find = (event: Event): void => {
    event.preventDefault();
    if (id.trim()) go(["tasks", id.trim()]);
  };
  return (
    <form class="search" role="search" onSubmit={find}>
      <label class="field inline">
        <span>Task id</span>
        <input type="search" value={id} placeholder="0-8f14e45fceea167a" onInput={(event) => setId(event.currentTarget.value)} />
      </label>
      <button type="submit">Find</button>
    </form>
  );
}

export function PauseButton(props: { of: Queue; onDone: () => void }) {
  const { queue, paused } = props.of;
  const [fault, setFault] = useState<string | null>(null);
  if (!may("admin", queue)) return null;
  const act = async (): Promise<void> => {
    try {
      await post(path("v1", "queues", queue, paused ? "resume" : "pause"));
      setFault(null);
    } catch (error) {
      setFault((error as Error).message);
    }
    props.onDone();
  };
  return (
    <>
      <button type="button" onClick={() => void act()} aria-label={`${paused ? "Resume" : "Pause"} queue ${queue}`}>
        {paused ? "Resume" : "Pause"}
      </button>
      {fault && <span class="fault" role="alert">{fault}</span>}
    </>
  );
}

function QueueRow(props: { of: Queue; onDone: () => void }) {
  const { of: queue } = props;
  const cell = (value: number, state?: string) => (
    <td class={value && (state === "FAILED" || state === "DEAD") ? "number bad-text" : "number"}>
      {value && state ? <Link to={["queues", queue.queue]} query={{ state }}>{brief(value)}</Link> : brief(value)}
    </td>
  );
  return (
    <tr>
      <th scope="row" class="name">
        <Link to={["queues", queue.queue]}>{queue.queue}</Link> {queue.paused && <Badge word="paused" tone="warn" />}
      </th>
      {cell(queue.waiting, "WAITING")}
      {cell(queue.delayed)}
      {cell(queue.leased, "LEASED")}
      {cell(queue.completed, "COMPLETED")}
      {cell(queue.failed, "FAILED")}
      {cell(queue.dead, "DEAD")}
      <td class="actions">
        <PauseButton of={queue} onDone={props.onDone} />
      </td>
    </tr>
  );
}

export function Queues() {
  const [filter, setFilter] = useState("");
  const [shown, setShown] = useState(PAGE);
  const { value, refusal, refresh } = useAnswer("queues", () => list<Queue>("/v1/queues", "queues", QUEUES_MAX), 2000);
  const wanted = (value?.entries ?? []).filter((each) => each.queue.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      <Title beside={<FindTask />}>Queues and tasks</Title>
      {refusal && !value ? <Refusal of={refusal} /> : !value ? <Loading /> : !value.entries.length ? (
        <Empty title="No queue yet.">
          <p>A queue is there once a task is submitted to it:</p>
          <Code>{`curl ${location.origin}/v1/queues/mail/tasks -d '{"payload":"hello"}'`}</Code>
        </Empty>
      ) : (
        <section class="panel" aria-label="Queues">
          <header>
            <label class="field inline">
              <span>Filter</span>
              <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
            </label>
            <span class="note">{count(wanted.length)} of {count(value.entries.length)}</span>
          </header>
          {wanted.length ? (
            <Table
              caption="Queues"
              head={["Queue", ["Waiting", "number"], ["Delayed", "number"], ["Leased", "number"], ["Completed", "number"],
                ["Failed", "number"], ["Dead", "number"], ["Actions", "actions"]]}
            >
              {wanted.slice(0, shown).map((queue) => <QueueRow key={queue.queue} of={queue} onDone={refresh} />)}
            </Table>
          ) : (
            <Empty title={`No queue's name has “${filter}” in it.`}><p>Change the filter to see others.</p></Empty>
          )}
          {wanted.length > shown && (
            <p class="more"><button type="button" onClick={() => setShown(shown + PAGE)}>Show {Math.min(PAGE, wanted.length - shown)} more</button></p>
          )}
        </section>
      )}
    </>
  );
}

// --- one queue ---

function StateTabs(props: { queue: string; chosen: string | undefined; of: Queue | undefined }) {
  const counted = (state: string): number | undefined => {
    if (!props.of) return undefined;
    const { waiting, delayed, leased, completed, failed, dead } = props.of;
    return { WAITING: waiting + delayed, LEASED: leased, COMPLETED: completed, FAILED: failed, DEAD: dead }[state];
  };
  return (
    <nav class="tabs" aria-label="States">
      {[undefined, ...TASK_STATES].map((state) => (
        <a
          href={`#/queues/${encodeURIComponent(props.queue)}${state ? `?state=${state}` : ""}`}
          {...(props.chosen === state ? { "aria-current": "page" as const } : {})}
        >
          {state ? state.toLowerCase() : "all"}
          {state && counted(state) !== undefined && <span class="tally">{brief(counted(state)!)}</span>}
        </a>
      ))}
    </nav>
  );
}

async function findQueue(name: string): Promise<Queue | null> {
  const { entries } = await list<Queue>("/v1/queues", "queues", QUEUES_MAX);
  return entries.find((each) => each.queue === name) ?? null;
}

export function QueueTasks(props: { queue: string }) {
  const { queue } = props;
  const state = place.value.query.get("state") ?? undefined;
  const pages = usePages(`${queue} ${state}`);
  const { value: counts, refresh } = useAnswer(`queue ${queue}`, () => findQueue(queue), 2000);
  const { value, refusal } = useAnswer(
    `tasks ${queue} ${state} ${pages.cursor}`,
    () => list<TaskEntry>(path("v1", "queues", queue, "tasks"), "tasks", PAGE, { state, cursor: pages.cursor }),
    2000,
  );
  return (
    <>
      <Title
        above={<a href="#/queues">Queues</a>}
        beside={
          <>
            {counts?.paused && <Badge word="paused" tone="warn" />}
            {counts && <PauseButton of={counts} onDone={refresh} />}
            <FindTask />
          </>
        }
      >
        {queue}
      </Title>
      <StateTabs queue={queue} chosen={state} of={counts ?? undefined} />
      {refusal && !value ? <Refusal of={refusal} /> : !value ? <Loading /> : (
        <section class="panel" aria-label="Tasks">
          {value.entries.length ? (
            <Table caption={`Tasks of ${queue}`} head={["Task", "State", ["Attempt", "number"]]}>
              {value.entries.map((task) => (
                <tr key={task.task_id}>
                  <th scope="row" class="name"><Link to={["tasks", task.task_id]}>{task.task_id}</Link></th>
                  <td><Badge word={task.state} /></td>
                  <td class="number">{task.attempt}</td>
                </tr>
              ))}
            </Table>
          ) : (
            <Empty title={state ? `No task of ${queue} is ${state.toLowerCase()}.` : `There is no task in ${queue}.`}>
              <p>Choose another state above, or submit one:</p>
              <Code>{`curl ${location.origin}/v1/queues/${encodeURIComponent(queue)}/tasks -d '{"payload":"hello"}'`}</Code>
            </Empty>
          )}
          <Pager
            what="tasks"
            page={pages.page}
            hasNext={value.cursor !== "0"}
            onBack={pages.back}
            onNext={() => pages.next(value.cursor)}
          />
        </section>
      )}
    </>
  );
}
