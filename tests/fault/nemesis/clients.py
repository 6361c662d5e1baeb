"""One client process: clients.py KIND NAME PORT RESOURCE HISTORY SEED

Does its work until it is told to stop (SIGTERM), whatever happens to its connection, to the server or to itself, and notes
every operation. A lease is believed in only until its time, counted from before the request was sent and less a margin, has
passed: then the client stops, as libtenure does. The one thing it does carelessly, so that there is something to
guard against: it looks at the clock *before* it writes, and may be stopped in between.
"""

import itertools
import random
import signal
import sys
import time

import history
import resource
from tenured import Client, Failed

LEASE_MS = 300
MARGIN = 0.1  # of the lease
LOCKS = 4
QUEUES = 2
DOMAINS = 4
PATIENCE = 2.0  # seconds for an answer
stopping = False


class Lost(Exception):
    """The connection ended, or no answer came: nobody knows what became of the request."""


class Line:
    """A connection that is made again whenever it is lost."""

    def __init__(self, port):
        self.port = port
        self.client = None

    def ask(self, *words):
        try:
            if self.client is None:
                self.client = Client(self.port, timeout=PATIENCE)
            return self.client.ask(*words)
        except Failed as failed:
            if str(failed).startswith("UNAVAILABLE"):
                self._drop(failed)
            raise
        except (OSError, EOFError, AssertionError) as error:
            self._drop(error)

    def _drop(self, error):
        if self.client is not None:
            self.client.close()
        self.client = None
        time.sleep(0.02)
        raise Lost from error


class Worker:
    def __init__(self, name, port, pen, writer, dice):
        self.name = name
        self.line = Line(port)
        self.pen = pen
        self.writer = writer
        self.dice = dice
        self.requests = itertools.count(1)

    def request_id(self):
        return f"{self.name}-{next(self.requests)}"

    def repeat(self, *words):
        """Asks until there is an answer; only for requests that are the same when they are asked twice."""
        while True:
            try:
                return self.line.ask(*words)
            except Lost:
                if stopping:
                    raise

    def write(self, name, fence, until):
        """A write under a lease, if it is believed in."""
        if history.now() < until:
            if self.dice.random() < 0.2:
                time.sleep(self.dice.uniform(0, 0.05))  # where a stop of the process hurts most
            self.pen.write(name, fence)

    def work(self):
        if self.dice.random() < 0.5:
            time.sleep(self.dice.uniform(0, 0.005))


def deadline(begin):
    return begin + int(LEASE_MS * 1e6 * (1 - MARGIN))


def latest_effect():
    """When a request without an answer can have had its effect at the latest, the end of a lease included: what is under
    way is held up for less than this."""
    return history.now() + 2_500_000_000


def lock_once(worker):
    name = f"lock-{worker.dice.randrange(LOCKS)}"
    begin = history.now()
    worker.writer.note("ask", name, begin, until=latest_effect() + int(PATIENCE * 1e9))
    try:
        grant = worker.line.ask("LOCK.ACQUIRE", "nemesis", name, worker.request_id(), "LEASE", LEASE_MS)
    except Lost:
        worker.writer.note("acquire", name, begin, until=latest_effect())
        return
    end = history.now()
    if grant is None:
        worker.writer.note("acquire", name, begin, end=end, answer="refused")
        return
    token, fence = grant[0], grant[1]
    until = deadline(begin)
    worker.work()
    worker.write(name, fence, until)
    stopped = min(history.now(), until)
    worker.writer.note("acquire", name, begin, end=end, answer="granted", fence=fence, lease=LEASE_MS * 1_000_000,
                       until=stopped)
    begin = history.now()
    try:
        worker.line.ask("LOCK.RELEASE", "nemesis", name, token)
        worker.writer.note("release", name, begin, end=history.now(), answer="released", fence=fence)
    except Failed as failed:
        worker.writer.note("release", name, begin, end=history.now(), answer=str(failed).split()[0], fence=fence)
    except Lost:
        worker.writer.note("release", name, begin, fence=fence, until=latest_effect())


def submit_once(worker):
    request = worker.request_id()
    begin = history.now()
    answer = worker.repeat("TASK.SUBMIT", f"q{worker.dice.randrange(QUEUES)}", "p", "ID", request, "REQUEST", request)
    worker.writer.note("submit", answer[0], begin, end=history.now(), answer=answer[1])


def task_once(worker):
    if worker.dice.random() < 0.4:
        submit_once(worker)
    begin = history.now()
    leases = worker.repeat("TASK.LEASE", worker.name, QUEUES, *(f"q{i}" for i in range(QUEUES)), "LEASE", LEASE_MS,
                           "REQUEST", worker.request_id())
    end = history.now()
    for lease in leases:
        task, token, fence = lease[1], lease[3], lease[5]
        # How much of the lease is left is told with the answer, which may be that to a repeated request.
        until = begin + int(min(lease[11], LEASE_MS) * 1e6 * (1 - MARGIN))
        worker.work()
        worker.write(task, fence, until)
        worker.writer.note("lease", task, begin, end=end, answer="granted", fence=fence, until=min(history.now(), until))
        begin_report = history.now()
        answer = worker.repeat("TASK.COMPLETE", task, token)
        worker.writer.note("complete", task, begin_report, end=history.now(), answer=answer, fence=fence)


def domain_once(worker):
    """As orchestrators do: the offset that the domain waits for, or the one behind what is done."""
    name = f"domain-{worker.dice.randrange(DOMAINS)}"
    status = worker.repeat("WORK.INSPECT", name)
    done = worker.repeat("WORK.DONE", name)[1]
    offset = done[0][1] + 1 if done else 0
    if status is not None:
        status = dict(zip(status[::2], status[1::2]))
        if status["state"] == "IDLE" and status["backlog_head"] is not None:
            offset = int(status["backlog_head"])
    begin = history.now()
    try:
        answer = worker.line.ask("WORK.ACQUIRE", name, offset, "LEASE", LEASE_MS)
    except Lost:
        worker.writer.note("take", name, begin, offset=offset)
        return
    except Failed:
        return  # another was quicker: the domain's order is another by now
    end = history.now()
    if answer[0] != "ACQUIRED":
        return
    token, fence = answer[1], answer[2]
    until = deadline(begin)
    worker.work()
    worker.write(name, fence, until)
    worker.writer.note("take", name, begin, end=end, answer="granted", fence=fence, offset=offset,
                       until=min(history.now(), until))
    begin = history.now()
    try:
        worker.repeat("WORK.SUCCEED", name, token, "REQUEST", worker.request_id())
        worker.writer.note("succeed", name, begin, end=history.now(), answer="done", fence=fence, offset=offset)
    except Failed:
        pass  # its lease had ended


KINDS = {"locks": lock_once, "tasks": task_once, "domains": domain_once}


def stop(*_):
    global stopping
    stopping = True


def main():
    kind, name, port, path, history_path, seed = sys.argv[1:]
    signal.signal(signal.SIGTERM, stop)
    worker = Worker(name, int(port), resource.Pen(path), history.Writer(history_path, name), random.Random(seed))
    while not stopping:
        try:
            KINDS[kind](worker)
        except (Lost, BrokenPipeError):
            pass
        except Failed as failed:
            if not str(failed).startswith("BACKPRESSURE"):
                raise
            time.sleep(0.02)


if __name__ == "__main__":
    main()
