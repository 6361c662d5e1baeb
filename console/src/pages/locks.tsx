// Locks: who holds which, for how long, and who waits.
import { useState } from "preact/hooks";
import { list, path, post } from "../api";
import { useAnswer } from "../answer";
import { now } from "../clock";
import { ago, inOrder } from "../format";
import { Code, Countdown, Empty, Loading, Pager, Refusal, Table, usePages } from "../parts/common";
import { Dialog } from "../parts/dialog";
import { Title } from "../parts/frame";
import type { Lock } from "../replies";
import { may } from "../session";

const PAGE = 50;
const SPACE = "soft-locks";

function ForceDialog(props: { of: Lock; space: string; onClose: () => void; onDone: (note: string) => void }) {
  const { of: lock } = props;
  const name = `${lock.domain}::${lock.identifier}`;
  const force = async (): Promise<void> => {
    const body = { fence: lock.fence, ...(props.space === SPACE ? {} : { space: props.space }) };
    const { forced } = await post<{ forced: boolean }>(path("v1", "locks", lock.domain, lock.identifier, "force"), body);
    props.onDone(forced ? `${name} was taken from ${lock.owner}.` : `${name} was no longer held under fence ${lock.fence}: nothing was done.`);
  };
  return (
    <Dialog title={`Force ${name} free?`} action="Force release" act={force} onClose={props.onClose}>
      <p>
        <b>{lock.owner}</b> holds it under fence {String(lock.fence)} and is <b>not stopped</b>: it may go on writing to what the lock guards until it
        next asks the server, which then tells it that the lock is lost.
      </p>
      <p>
        {lock.waiters
          ? `The first of ${lock.waiters} who wait gets the lock at once, with a greater fence.`
          : "Whoever asks next gets the lock, with a greater fence."}{" "}
        Only a resource that checks fences is safe from both writing at the same time. If the holder may still be alive, wait for the lease to end instead.
      </p>
    </Dialog>
  );
}

function LockRow(props: { of: Lock; onForce: (lock: Lock) => void }) {
  const { of: lock } = props;
  const name = `${lock.domain}::${lock.identifier}`;
  return (
    <tr>
      <th scope="row" class="name"><span class="quiet">{lock.domain}::</span>{lock.identifier}</th>
      <td class="name">{lock.owner}</td>
      <td class="number">{String(lock.fence)}</td>
      <td class="number">{lock.holds}</td>
      <td>{ago(now() - lock.granted_at)}</td>
      <td><Countdown until={lock.expires_at} from={lock.granted_at} /></td>
      <td class={lock.waiters ? "number warn-text" : "number"}>{lock.waiters}</td>
      <td class="actions">
        {may("admin", lock.domain) && (
          <button type="button" class="danger" onClick={() => props.onForce(lock)} aria-label={`Force release of ${name}`}>
            Force release
          </button>
        )}
      </td>
    </tr>
  );
}

export function Locks() {
  const [domain, setDomain] = useState("");
  const [space, setSpace] = useState(SPACE);
  const [forcing, setForcing] = useState<Lock | null>(null);
  const [note, setNote] = useState("");
  const target = domain ? path("v1", "locks", domain) : "/v1/locks";
  const given = space && space !== SPACE ? space : undefined;
  const pages = usePages(`${domain} ${space}`);
  const { value, refusal, refresh } = useAnswer(
    `locks ${domain} ${space} ${pages.cursor}`,
    () => list<Lock>(target, "locks", PAGE, { cursor: pages.cursor, space: given }),
    1000,
  );
  const hasFilter = domain !== "" || given !== undefined;
  return (
    <>
      <Title>Locks</Title>
      <form class="search" role="search" onSubmit={(event) => event.preventDefault()}>
        <label class="field inline"><span>Domain</span><input type="search" value={domain} onInput={(event) => setDomain(event.currentTarget.value)} /></label>
        <label class="field inline"><span>Space</span><input type="search" value={space} onInput={(event) => setSpace(event.currentTarget.value)} /></label>
      </form>
      <p role="status" class="note" aria-live="polite">{note}</p>
      {refusal && !value ? <Refusal of={refusal} /> : !value ? <Loading /> : !value.entries.length && pages.page === 0 ? (
        hasFilter ? (
          <Empty title="No lock of this name is held."><p>The domain must be given whole. Clear it to see the locks of all domains.</p></Empty>
        ) : (
          <Empty title="No lock is held.">
            <p>Take one for a minute, and see it here until it frees itself:</p>
            <Code>{`curl ${location.origin}/v1/locks/orders/12345/acquire -d '{"owner":"me","lease_ms":60000}'`}</Code>
          </Empty>
        )
      ) : (
        <section class="panel" aria-label="Locks that are held">
          <Table
            caption="Locks that are held"
            head={["Lock", "Holder", ["Fence", "number"], ["Holds", "number"], "Held since", "Lease left", ["Waiters", "number"], ["Actions", "actions"]]}
          >
            {inOrder(value.entries, (lock) => `${lock.domain}::${lock.identifier}`).map((lock) => <LockRow key={`${lock.domain}::${lock.identifier}`} of={lock} onForce={setForcing} />)}
          </Table>
          <Pager what="locks" page={pages.page} hasNext={value.cursor !== "0"} onBack={pages.back} onNext={() => pages.next(value.cursor)} />
        </section>
      )}
      {forcing && (
        <ForceDialog
          of={forcing}
          space={space || SPACE}
          onClose={() => setForcing(null)}
          onDone={(said) => {
            setNote(said);
            refresh();
          }}
        />
      )}
    </>
  );
}
