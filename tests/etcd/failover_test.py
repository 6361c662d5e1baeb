"""Three tenured on three etcd, under load, while leaders are killed, stopped, and cut off, and members of etcd lost.

  failover_test.py [--failovers N] [--seed N] [--events kill,stop,...] [--json FILE]

Nothing that was acknowledged is lost, fences increase, those who wait go on, and somebody leads within twice the leadership
time. Prints how long failovers took, and writes it into the file: seconds by event. Environment: TENURED, the server; PATH has etcd.
"""

import argparse
import collections
import itertools
import json
import pathlib
import random
import shutil
import sys
import threading
import time

from cluster import Cluster, Crew, Etcd, NoAnswer, Seeker, await_true, pause, resume
import sanitized
from tenured import Client, Failed

LEADERSHIP_MS = 3000
# A term passes by the clock; then work is done.
LIMIT = (LEADERSHIP_MS + sanitized.seconds(LEADERSHIP_MS)) / 1000
LOCKS = 4
LEASE_MS = 60_000


class Load:
    """Clients, and what they were told."""

    def __init__(self, ports):
        self.ports = ports
        self.crew = Crew()
        self.numbers = itertools.count()
        self.mutex = threading.Lock()
        self.fences = collections.defaultdict(int)  # by lock: the last
        self.grants = 0
        self.submitted = []
        self.completed = []
        self.granted_at = []  # when probes were answered, and what they had asked for was begun after that
        for number in range(LOCKS * 2):
            self.crew.add(self.locker(f"lock-{number % LOCKS}", f"owner-{number}"))
        self.crew.add(self.submitter())
        self.crew.add(self.worker("worker-1"))
        self.crew.add(self.worker("worker-2"))
        self.crew.add(self.prober())

    def request_id(self):
        return f"r{next(self.numbers)}"

    def locker(self, name, owner):
        seeker = Seeker(self.ports)

        def cycle():
            try:
                grant = seeker.ask("LOCK.ACQUIRE", "load", name, owner, "LEASE", LEASE_MS, "REQUEST", self.request_id(),
                                   "WAIT", 20_000, wait=20)
            except Failed as error:
                # Its first answer was never sent: it was given back.
                assert str(error).startswith(("EXPIRED", "NOTHELD")), error
                return
            if grant is None:
                return
            token, fence = grant[0], grant[1]
            with self.mutex:
                assert fence > self.fences[name], f"{name}: fence {fence} after {self.fences[name]}"
                self.fences[name] = fence
                self.grants += 1
            time.sleep(0.002)
            with self.mutex:
                assert self.fences[name] == fence, f"{name}: held by two, {fence} and {self.fences[name]}"
            assert seeker.ask("LOCK.RELEASE", "load", name, token, "REQUEST", self.request_id()) == ["RELEASED", 0]

        return cycle

    def submitter(self):
        seeker = Seeker(self.ports)

        def cycle():
            task_id = f"task-{next(self.numbers)}"
            answer = seeker.ask("TASK.SUBMIT", "queue", "payload", "ID", task_id, "REQUEST", self.request_id())
            assert answer[0] == task_id, answer
            self.submitted.append(task_id)
            time.sleep(0.005)

        return cycle

    def worker(self, name):
        seeker = Seeker(self.ports)

        def cycle():
            leases = seeker.ask("TASK.LEASE", name, 1, "queue", "BLOCK", 1000, "LEASE", LEASE_MS, "REQUEST",
                                self.request_id(), wait=1)
            for lease in leases:
                lease = dict(zip(lease[::2], lease[1::2]))
                if seeker.ask("TASK.COMPLETE", lease["task_id"], lease["lease_id"]) == "COMMITTED":
                    self.completed.append(lease["task_id"])

        return cycle

    def prober(self):
        """Asks all the time, and never waits long for one that is silent."""
        seeker = Seeker(self.ports, timeout=0.3)

        def cycle():
            began = time.monotonic()
            name = f"probe-{next(self.numbers)}"
            try:
                if seeker.ask_once("LOCK.ACQUIRE", "probes", name, "prober", "LEASE", 1000) is not None:
                    self.granted_at.append((began, time.monotonic()))
            except NoAnswer:
                pass
            time.sleep(0.01)

        return cycle

    def first_grant_after(self, event):
        """Seconds from the event to the answer of the first request that was made afterwards, and granted."""
        await_true("somebody grants again", lambda: self.granted_at and self.granted_at[-1][0] > event)
        return next(end for begin, end in self.granted_at if begin > event) - event


class Story:
    def __init__(self, etcd, cluster, load, dice):
        self.etcd = etcd
        self.cluster = cluster
        self.load = load
        self.dice = dice
        self.times = collections.defaultdict(list)

    # --- what happens; each answers with how long nobody was served ---

    def kill(self, leader):
        event = time.monotonic()
        leader.kill()
        took = self.await_other(leader, event)
        leader.start()
        return took

    def stop(self, leader):
        """For longer than its term; when it goes on it must not answer as if nothing had happened."""
        with Client(leader.port) as early:
            early.ask("PING")
            event = time.monotonic()
            pause(leader)
            try:
                took = self.await_other(leader, event)
                seeker = Seeker(self.cluster.ports(), timeout=1.0)
                task_id = f"new-{self.load.request_id()}"
                seeker.ask("TASK.SUBMIT", "other", "p", "ID", task_id, "REQUEST", self.load.request_id())
                early.put("TASK.GET", task_id)
                early.put("LOCK.ACQUIRE", "stale", "1", "me")
            finally:
                resume(leader)
            for _ in range(2):
                try:
                    answer = early.reply()
                except (Failed, EOFError) as error:
                    assert isinstance(error, EOFError) or str(error).startswith(("MOVED", "UNAVAILABLE")), error
                else:
                    raise AssertionError(f"a leader whose time had passed answered {answer}")
        return took

    def cut_off(self, leader):
        event = time.monotonic()
        leader.cut_off(True)
        try:
            took = self.await_other(leader, event)
        finally:
            leader.cut_off(False)
        return took

    def resign(self, leader):
        """SIGTERM: the next leads at once."""
        event = time.monotonic()
        assert leader.server.stop() == 0, leader.server.log()
        shutil.rmtree(leader.server.folder, ignore_errors=True)
        leader.server = None
        took = self.await_other(leader, event)
        leader.start()
        return took

    def lose_member(self, _leader):
        member = self.dice.randrange(len(self.etcd.processes))
        event = time.monotonic()
        self.etcd.kill(member)
        took = self.load.first_grant_after(event)
        self.etcd.start_all()
        return took

    EVENTS = (kill, stop, cut_off, lose_member, resign)

    def await_other(self, before, event):
        def leads():
            leader = self.cluster_leader_besides(before)
            return leader is not None

        await_true("another leads", leads)
        return self.load.first_grant_after(event)

    def cluster_leader_besides(self, before):
        return next((node for node in self.cluster.nodes if node is not before and node.server and node.is_leading()),
                    None)

    def happen(self, what):
        leader = self.cluster.await_all()
        before = self.load.grants
        await_true("there is load again", lambda: self.load.crew.errors or self.load.grants > before + 30)
        # Held across the event, with somebody who waits for it.
        holder = Seeker(self.cluster.ports())
        name = f"across-{self.load.request_id()}"
        token, fence = holder.ask("LOCK.ACQUIRE", "across", name, "holder", "LEASE", LEASE_MS, "REQUEST",
                                  self.load.request_id())[:2]
        got = []
        waiter = Seeker(self.cluster.ports())
        request_id = self.load.request_id()
        thread = threading.Thread(daemon=True, target=lambda: got.append(
            waiter.ask("LOCK.ACQUIRE", "across", name, "waiter", "LEASE", LEASE_MS, "REQUEST", request_id, "WAIT",
                       30_000, wait=30)))
        thread.start()
        took = what(self, leader)
        self.times[what.__name__].append(took)
        assert took <= LIMIT, f"{what.__name__}: {took:.2f} s until somebody was served; expected {LIMIT} s"
        assert not got, f"a lock that was held under {fence} was granted to another: {got}"
        assert holder.ask("LOCK.RELEASE", "across", name, token, "REQUEST", self.load.request_id()) == ["RELEASED", 0]
        thread.join(60)
        assert got and got[0][1] > fence, f"who waited got {got} after fence {fence}"
        print(f"{what.__name__:12} {took:6.2f} s", flush=True)

    def lose_everything(self):
        """All of etcd: nobody can be served, and that is said; when it is back all goes on by itself."""
        self.cluster.await_all()
        for member in range(len(self.etcd.processes)):
            self.etcd.kill(member)
        lost = time.monotonic()
        for node in self.cluster.nodes:
            await_true("it says that it cannot answer", lambda node=node: says_unavailable(node))
            await_true("it is not ready", lambda node=node: node.readiness()[0] == 503)
            assert node.server.process.poll() is None, node.server.log()
        print(f"all of etcd lost: UNAVAILABLE after {time.monotonic() - lost:.2f} s")
        self.etcd.start_all()
        back = time.monotonic()
        print(f"all of etcd back: served after {self.load.first_grant_after(back):.2f} s", flush=True)


def says_unavailable(node):
    try:
        with Client(node.port, timeout=10) as client:
            client.ask("TASK.GET", "nothing")
    except (Failed, OSError, EOFError) as error:
        return str(error).startswith("UNAVAILABLE")
    return False


def check_kept(cluster, load):
    """Whatever was acknowledged is there; and all nodes have the same."""
    seeker = Seeker(cluster.ports())
    completed = set(load.completed)
    for task_id in load.submitted:
        answer = seeker.ask("TASK.GET", task_id)
        assert answer is not None, f"{task_id} was acknowledged, and is lost"
        state = dict(zip(answer[::2], answer[1::2]))["state"]
        assert state == "COMPLETED" or task_id not in completed, f"{task_id} was completed, and is {state}"

    def frames():
        return {(node.status()["cluster"]["applied_frame"], node.status()["state"]["fence"]) for node in cluster.nodes}

    await_true("all nodes have the same", lambda: len(frames()) == 1)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--failovers", type=int, default=5)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--events", default=",".join(event.__name__ for event in Story.EVENTS))
    options.add_argument("--json", type=pathlib.Path)
    asked = options.parse_args()
    if shutil.which("etcd") is None:
        print("there is no etcd on this machine: skipped")
        return 77
    dice = random.Random(asked.seed)
    events = [getattr(Story, name) for name in asked.events.split(",")]
    # Snapshots again and again: what is older is dropped under those who follow.
    flags = ("--leadership-ms", str(LEADERSHIP_MS), "--snapshot-bytes", "32768")
    with Etcd() as etcd, Cluster(etcd, flags=flags) as cluster:
        cluster.await_all()
        load = Load(cluster.ports())
        story = Story(etcd, cluster, load, dice)
        try:
            for number in range(asked.failovers):
                story.happen(events[number] if number < len(events) else dice.choice(events))
                assert not load.crew.errors, load.crew.errors
            story.lose_everything()
            cluster.await_all()
        except BaseException:
            for node in cluster.nodes:
                if node.server:
                    lines = [line for line in node.server.lines if "request.refused" not in line]
                    print(f"--- {node.port}", *lines, sep="\n", file=sys.stderr)
            raise
        finally:
            load.crew.stopping.set()
        load.crew.stop()
        check_kept(cluster, load)
    if asked.json:
        asked.json.write_text(json.dumps({"leadership_s": LEADERSHIP_MS / 1000, "seconds": story.times}), encoding="ascii")
    for what, times in story.times.items():
        times.sort()
        print(f"{what}: {len(times)} times, median {times[len(times) // 2]:.2f} s, longest {times[-1]:.2f} s")
    every = sorted(itertools.chain(*story.times.values()))
    print(f"failovers: {len(every)}, median {every[len(every) // 2]:.2f} s, 90 % within {every[len(every) * 9 // 10]:.2f} s, "
          f"longest {every[-1]:.2f} s; {load.grants} locks granted, {len(load.submitted)} tasks, "
          f"{len(load.completed)} completed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
