// Workers: who asked for tasks since the server's start.
import { list } from "../api";
import { useAnswer } from "../answer";
import { useNow } from "../clock";
import { ago, count, inOrder } from "../format";
import { Badge, Code, Empty, Loading, Pager, Refusal, Table, usePages } from "../parts/common";
import { Title } from "../parts/frame";
import type { Worker } from "../replies";

const PAGE = 50;
const QUIET_MS = 60_000;

export function Workers() {
  const pages = usePages("workers");
  const present = useNow();
  const { value, refusal } = useAnswer(
    `workers ${pages.cursor}`,
    () => list<Worker>("/v1/workers", "workers", PAGE, { cursor: pages.cursor }),
    2000,
  );
  return (
    <>
      <Title beside={<span class="note">who asked for a task since the server's start</span>}>Workers</Title>
      {refusal && !value ? <Refusal of={refusal} /> : !value ? <Loading /> : !value.entries.length && pages.page === 0 ? (
        <Empty title="No worker has asked for a task since the start.">
          <p>A worker is whoever leases tasks under a name of its own:</p>
          <Code>{`curl ${location.origin}/v1/lease -d '{"worker":"w1","queues":["mail"],"block_ms":30000}'`}</Code>
        </Empty>
      ) : (
        <section class="panel" aria-label="Workers">
          <Table caption="Workers" head={["Worker", "Now", ["Leases", "number"], ["Last seen", "number"]]}>
            {inOrder(value.entries, (worker) => worker.worker).map((worker) => {
              const isQuiet = present - worker.last_seen > QUIET_MS;
              const [word, tone] = isQuiet ? (worker.leases ? ["silent", "warn"] : ["away", "plain"]) : worker.leases ? ["working", "busy"] : ["ready", "good"];
              return (
                <tr key={worker.worker}>
                  <th scope="row" class="name">{worker.worker}</th>
                  <td><Badge word={word!} tone={tone!} /></td>
                  <td class="number">{count(worker.leases)}</td>
                  <td class="number">{ago(present - worker.last_seen)}</td>
                </tr>
              );
            })}
          </Table>
          <Pager what="workers" page={pages.page} hasNext={value.cursor !== "0"} onBack={pages.back} onNext={() => pages.next(value.cursor)} />
        </section>
      )}
    </>
  );
}
