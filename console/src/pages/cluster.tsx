// The nodes: all that take part, where there are several; else the one that this page came from.
import { link } from "../api";
import { bytes, count, span } from "../format";
import { Badge, Empty, Loading, Panel, Table } from "../parts/common";
import { Title } from "../parts/frame";
import type { ClusterNode, Status } from "../replies";
import { refusal, status } from "../standing";

function Facts(props: { of: Status }) {
  const { server, clients, state, journal } = props.of;
  return (
    <dl class="facts">
      <div><dt>Version</dt><dd>{server.tenure_version}</dd></div>
      <div><dt>Up for</dt><dd>{span(server.uptime_in_seconds * 1000)}</dd></div>
      <div><dt>Started again</dt><dd>{count(server.restarts)} times</dd></div>
      <div><dt>Replay at the start</dt><dd>{span(server.replay_seconds * 1000)}</dd></div>
      <div><dt>Data</dt><dd>{server.data ?? "–"}</dd></div>
      <div><dt>RESP</dt><dd>{server.addresses || "–"}</dd></div>
      <div><dt>HTTP</dt><dd>{server.http_addresses}</dd></div>
      <div><dt>Connections</dt><dd>{count(clients.connections)} of {count(clients.connections_max)}</dd></div>
      <div><dt>Memory of the state</dt><dd>{bytes(state.state_bytes)} of {bytes(state.state_bytes_max)}</dd></div>
      <div><dt>Last fence</dt><dd>{count(state.fence)}</dd></div>
      <div><dt>Durability</dt><dd>{journal.durability}</dd></div>
      <div><dt>Journal</dt><dd>{bytes(journal.journal_bytes)}, snapshots {bytes(journal.snapshot_bytes)}</dd></div>
      <div><dt>Disk free</dt><dd class={journal.has_room ? "" : "bad-text"}>{bytes(journal.disk_free_bytes)}</dd></div>
    </dl>
  );
}

function Nodes(props: { of: ClusterNode[]; self: string }) {
  return (
    <Table caption="Nodes" head={["Node", "Role", "Console", ["Last frame", "number"], ["Lag", "number"]]}>
      {props.of.map((node) => (
        <tr>
          <th scope="row" class="name">{node.address}{node.address === props.self && " (this one)"}</th>
          <td><Badge word={node.role} tone={node.role === "leader" ? "good" : "plain"} /></td>
          <td>{node.http ? <a href={`${location.protocol}//${node.http}/`}>{node.http}</a> : "–"}</td>
          <td class="number">{count(node.applied_frame)}</td>
          <td class="number">{count(node.lag_frames)}</td>
        </tr>
      ))}
    </Table>
  );
}

export function Cluster() {
  const seen = status.value;
  if (!seen) {
    return (
      <>
        <Title>Cluster</Title>
        {refusal.value ? <Empty title="You may not see how the server stands."><p>{refusal.value}</p></Empty> : <Loading />}
      </>
    );
  }
  const isLost = link.value.state === "lost";
  const health = isLost ? ["no answer", "bad"] : seen.server.stopping ? ["stopping", "warn"] : seen.journal.has_room ? ["healthy", "good"] : ["disk full", "bad"];
  const cluster = seen.cluster;
  const others = Object.entries(cluster ?? {}).filter(([name]) => name !== "nodes");
  return (
    <>
      <Title>Cluster</Title>
      <Panel title="Nodes">
        {cluster?.nodes && <Nodes of={cluster.nodes} self={String(cluster["node"])} />}
        {!cluster?.nodes && <Table caption="Nodes" head={["Node", "Role", "Health", ["Durable frame", "number"], ["Lag", "number"]]}>
          <tr>
            <th scope="row" class="name">{seen.server.http_addresses}</th>
            <td>{seen.server.role === "master" ? "leader" : seen.server.role}</td>
            <td><Badge word={health[0]!} tone={health[1]!} /></td>
            <td class="number">{count(seen.journal.durable_frame)}</td>
            <td class="number">0</td>
          </tr>
        </Table>}
        {others.length === 0 && <p class="note">This server stands alone: it leads, and its journal lies in one folder.</p>}
      </Panel>
      {others.length > 0 && (
        <Panel title="What the node tells of the cluster">
          <dl class="facts">
            {others.map(([name, value]) => <div><dt>{name.replaceAll("_", " ")}</dt><dd>{typeof value === "object" ? JSON.stringify(value) : String(value)}</dd></div>)}
          </dl>
        </Panel>
      )}
      <Panel title="This node"><Facts of={seen} /></Panel>
    </>
  );
}
