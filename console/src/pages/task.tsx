// One task: how it stands, and every attempt.
import { useEffect, useState } from "preact/hooks";
import { get, path, post } from "../api";
import { useAnswer } from "../answer";
import { dateTime, timeExactly } from "../format";
import { Badge, Countdown, Empty, Link, Loading, Panel, Refusal, Table } from "../parts/common";
import { Dialog } from "../parts/dialog";
import { Title } from "../parts/frame";
import { Timeline } from "../parts/timeline";
import type { Attempt, Task } from "../replies";
import { go } from "../router";
import { may } from "../session";
import { listen } from "../stream";

interface Story {
  task: Task;
  attempts: Attempt[];
}

async function read(id: string): Promise<Story> {
  const [task, { attempts }] = await Promise.all([
    get<Task>(path("v1", "tasks", id)),
    get<{ attempts: Attempt[] }>(path("v1", "tasks", id, "history")),
  ]);
  return { task, attempts };
}

const isOver = (task: Task): boolean => ["COMPLETED", "FAILED", "DEAD"].includes(task.state);

function Actions(props: { task: Task; onDone: () => void }) {
  const { task } = props;
  const [isAsking, setAsking] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const resubmit = async (): Promise<void> => {
    try {
      const { task_id } = await post<{ task_id: string }>(path("v1", "tasks", task.task_id, "resubmit"));
      go(["tasks", task_id]);
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  return (
    <>
      {isOver(task) && may("submit", task.queue) && <button type="button" onClick={() => void resubmit()}>Resubmit</button>}
      {!isOver(task) && may("admin", task.queue) && <button type="button" class="danger" onClick={() => setAsking(true)}>Kill</button>}
      {fault && <span class="fault" role="alert">{fault}</span>}
      {isAsking && (
        <Dialog
          title={`Kill ${task.task_id}?`}
          action="Kill the task"
          question="Why? It is kept with the task."
          act={async (reason) => {
            await post(path("v1", "tasks", task.task_id, "kill"), { reason });
            props.onDone();
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            The task ends for good and is not tried again.
            {task.worker ? ` ${task.worker}, who holds it now, is not stopped: it learns of it when it next extends or reports, and its result is refused.` : ""}
          </p>
        </Dialog>
      )}
    </>
  );
}

function Bytes(props: { text?: string | null | undefined; base64?: string | undefined }) {
  if (props.text === undefined && props.base64 === undefined) return <>–</>;
  const text = props.text ?? props.base64;
  if (text === null || text === undefined) return <>–</>;
  return <span class="bytes">{text.length > 400 ? `${text.slice(0, 400)}…` : text || "(empty)"}{props.base64 !== undefined && " (base64)"}</span>;
}

function Facts(props: { of: Task }) {
  const { of: task } = props;
  return (
    <dl class="facts">
      <div><dt>Queue</dt><dd><Link to={["queues", task.queue]}>{task.queue}</Link></dd></div>
      <div><dt>Attempt</dt><dd>{task.attempt}</dd></div>
      <div><dt>Failures</dt><dd>{task.failures}</dd></div>
      <div><dt>Late reports refused</dt><dd class={task.late ? "warn-text" : ""}>{task.late}</dd></div>
      <div><dt>Priority</dt><dd>{task.priority}</dd></div>
      <div><dt>Key</dt><dd>{task.key ?? "–"}</dd></div>
      <div><dt>Submitted</dt><dd>{dateTime(task.created_at)}</dd></div>
      {task.not_before !== null && <div><dt>Not before</dt><dd>{dateTime(task.not_before)}</dd></div>}
      {task.worker !== null && <div><dt>Held by</dt><dd>{task.worker}, fence {String(task.fence)}</dd></div>}
      {task.expires_at !== null && <div><dt>Lease ends in</dt><dd><Countdown until={task.expires_at} /></dd></div>}
      <div><dt>Result</dt><dd><Bytes text={task.result} base64={task.result_base64} /></dd></div>
      <div><dt>Last reason</dt><dd><Bytes text={task.reason} base64={task.reason_base64} /></dd></div>
    </dl>
  );
}

function Attempts(props: { of: Attempt[] }) {
  return (
    <Table
      caption="Attempts"
      head={[["Attempt", "number"], "Worker", ["Fence", "number"], "Granted", "Ended", "Outcome", ["Extensions", "number"],
        ["Late reports", "number"], "Reason"]}
    >
      {props.of.map((each) => (
        <tr key={each.attempt}>
          <th scope="row" class="number">{each.attempt}</th>
          <td class="name">{each.worker}</td>
          <td class="number">{String(each.fence)}</td>
          <td>{timeExactly(each.granted_at)}</td>
          <td>{each.ended_at === null ? "–" : timeExactly(each.ended_at)}</td>
          <td><Badge word={each.outcome} /></td>
          <td class="number">{each.extensions}</td>
          <td class={each.late ? "number warn-text" : "number"}>{each.late}</td>
          <td class="reason">{each.reason ?? "–"}</td>
        </tr>
      ))}
    </Table>
  );
}

export function TaskPage(props: { id: string }) {
  const { value, refusal, refresh } = useAnswer(`task ${props.id}`, () => read(props.id), 2000);
  useEffect(() => listen(({ told }) => told.task_id === props.id && refresh()), [props.id]);
  if (refusal?.code === "NOTASK" && !value) {
    return (
      <>
        <Title above={<a href="#/queues">Queues</a>}>{props.id}</Title>
        <Empty title="There is no such task.">
          <p>Tasks that have ended are forgotten after a while (an hour, unless the server was told otherwise). Look whether the id is right.</p>
        </Empty>
      </>
    );
  }
  if (!value) return <><Title above={<a href="#/queues">Queues</a>}>{props.id}</Title>{refusal ? <Refusal of={refusal} /> : <Loading />}</>;
  const { task, attempts } = value;
  return (
    <>
      <Title
        above={<><a href="#/queues">Queues</a> / <Link to={["queues", task.queue]}>{task.queue}</Link></>}
        beside={<><Badge word={task.state} /><Actions task={task} onDone={refresh} /></>}
      >
        {task.task_id}
      </Title>
      <Panel title="Timeline" note={attempts.length > 1 ? `ran ${attempts.length} times` : undefined}>
        {attempts.length ? (
          <Timeline task={task} attempts={attempts} />
        ) : (
          <Empty title="Nobody has leased it yet."><p>Its attempts are drawn here once a worker takes it.</p></Empty>
        )}
      </Panel>
      <Panel title="Task"><Facts of={task} /></Panel>
      {attempts.length > 0 && <Panel title="Attempts"><Attempts of={attempts} /></Panel>}
    </>
  );
}
