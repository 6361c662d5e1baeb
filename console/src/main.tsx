// The console: a page that shows what is owned, by whom, until when. It speaks the HTTP API of the server it came from.
import "./console.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { isStranger, link } from "./api";
import { followHappenings, takeFailings } from "./happenings";
import { followLeases, refreshLeases } from "./leases";
import { Cluster } from "./pages/cluster";
import { DomainPage, Domains } from "./pages/domains";
import { Journal } from "./pages/journal";
import { Locks } from "./pages/locks";
import { Overview } from "./pages/overview";
import { Queues, QueueTasks } from "./pages/queues";
import { TaskPage } from "./pages/task";
import { Workers } from "./pages/workers";
import { Empty } from "./parts/common";
import { Frame, Title } from "./parts/frame";
import { SignIn } from "./parts/sign_in";
import { place } from "./router";
import { meet, user } from "./session";
import { followStanding, refreshStanding } from "./standing";
import { beat, restWhileHidden, startStream } from "./stream";

const NAMES: Record<string, string> = {
  queues: "Queues",
  tasks: "Task",
  domains: "Domains",
  locks: "Locks",
  workers: "Workers",
  journal: "Journal",
  cluster: "Cluster",
};

function Page() {
  const [first, second] = place.value.segments;
  switch (first) {
    case undefined:
      return <Overview />;
    case "queues":
      return second === undefined ? <Queues /> : <QueueTasks queue={second} />;
    case "tasks":
      return second === undefined ? <Queues /> : <TaskPage id={second} />;
    case "domains":
      return second === undefined ? <Domains /> : <DomainPage name={second} />;
    case "locks":
      return <Locks />;
    case "workers":
      return <Workers />;
    case "journal":
      return <Journal />;
    case "cluster":
      return <Cluster />;
    default:
      return (
        <>
          <Title>No such page</Title>
          <Empty title="The address leads nowhere."><p><a href="#/">To the overview</a></p></Empty>
        </>
      );
  }
}

function Console() {
  return isStranger.value ? <SignIn /> : <Frame><Page /></Frame>;
}

effect(() => {
  const [first, second] = place.value.segments;
  document.title = [second, NAMES[first ?? ""] ?? "Overview", "Tenure"].filter(Boolean).join(" – ");
});

// Whenever the server is back, or somebody else looks.
let seen = -1;
effect(() => {
  const { times } = link.value;
  if (times === seen) return;
  seen = times;
  queueMicrotask(() => {
    startStream();
    refreshStanding();
    refreshLeases();
    if (user.peek() === null || times > 0) void meet();
  });
});
effect(() => {
  void beat.value;
  takeFailings();
});

followStanding();
followLeases();
followHappenings();
restWhileHidden();
render(<Console />, document.getElementById("console")!);
