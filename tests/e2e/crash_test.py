"""kill -9 under load and a new start, again and again: everything that was acknowledged is there.

  crash_test.py [TIMES] [--slow-sync]    with slow syncs, what is answered before them is lost whenever it is killed
"""

import random
import sys
import tempfile
import time

from tenured import PATIENCE, Tenured, in_thread

CLIENTS = 8
# A page that is written survives the process; what waits for an earlier write has not been written.
SLOW_SYNC = ("strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=pwrite64", "-e",
             "inject=pwrite64:delay_enter=50ms")


class Ledger:
    """What the server said was done, over all its lives."""

    def __init__(self):
        self.submitted = set()
        self.completed = set()
        self.fence = 0
        self.succeeded = {}  # domain -> offset

    def counts(self):
        return (len(self.submitted), len(self.completed), sum(offset + 1 for offset in self.succeeded.values()), self.fence)

    def await_more(self, before):
        """A life in which something was never acknowledged shows nothing of it, however slow the machine is."""
        deadline = time.monotonic() + PATIENCE
        while any(now <= then for now, then in zip(self.counts(), before)):
            assert time.monotonic() < deadline, f"nothing is acknowledged: {before}, then {self.counts()}"
            time.sleep(0.01)


def submit_and_complete(server, ledger, number):
    client = server.connect()
    while True:
        task = client.ask("TASK.SUBMIT", f"q{number}", "p" * 100)[0]
        ledger.submitted.add(task)
        if number % 2:
            continue
        lease = client.ask("TASK.LEASE", f"w{number}", "1", f"q{number}", "LEASE", "3600000")
        if lease and client.ask("TASK.COMPLETE", lease[0][1], lease[0][3]) == "COMMITTED":
            ledger.completed.add(lease[0][1])


def lock(server, ledger, number):
    client = server.connect()
    while True:
        grant = client.ask("LOCK.ACQUIRE", "crash", f"lock {number}", f"life {id(server)}", "LEASE", "3600000")
        if grant is None:
            client.ask("LOCK.FORCE", "crash", f"lock {number}")
            continue
        ledger.fence = max(ledger.fence, grant[1])
        client.ask("LOCK.RELEASE", "crash", f"lock {number}", grant[0])


def work(server, ledger, number):
    client = server.connect()
    domain = f"domain {number}"
    while True:
        offset = ledger.succeeded.get(domain, -1) + 1
        answer = client.ask("WORK.ACQUIRE", domain, offset)
        if answer[0] in ("ACQUIRED", "ALREADY_ACQUIRED"):
            client.ask("WORK.SUCCEED", domain, answer[1])
        else:
            assert answer[0] == "ALREADY_PROCESSED", answer  # it succeeded, and the kill came before the answer
        ledger.succeeded[domain] = offset


def until_killed(job, *arguments):
    try:
        job(*arguments)
    except (ConnectionError, EOFError):
        return


def compare(server, ledger):
    with server.connect() as client:
        for task in ledger.submitted:
            status = client.ask("TASK.GET", task)
            assert status is not None, f"{task} was acknowledged and is lost"
            assert task not in ledger.completed or status[5] == "COMPLETED", f"{task}: its completion is lost"
        for domain, offset in ledger.succeeded.items():
            done = client.ask("WORK.DONE", domain)[1]
            assert done[0][0] == 0 and done[0][1] >= offset, f"{domain}: {offset} is done, found {done}"
        grant = client.ask("LOCK.ACQUIRE", "crash", f"check {random.getrandbits(64)}", "me")
        assert grant[1] > ledger.fence, f"fence {grant[1]} after {ledger.fence}"
        ledger.fence = grant[1]


def main(times, before=()):
    ledger = Ledger()
    with tempfile.TemporaryDirectory(prefix="tenure-crash-") as folder:
        for _ in range(times):
            with Tenured("--segment-bytes", "1mb", "--snapshot-bytes", "4mb", folder=folder, before=before) as server:
                compare(server, ledger)
                before_life = ledger.counts()
                jobs = [in_thread(lambda n=n: until_killed(submit_and_complete, server, ledger, n)) for n in range(CLIENTS)]
                jobs += [in_thread(lambda n=n: until_killed(lock, server, ledger, n)) for n in range(CLIENTS)]
                jobs += [in_thread(lambda n=n: until_killed(work, server, ledger, n)) for n in range(CLIENTS)]
                time.sleep(random.uniform(0.1, 0.5))
                ledger.await_more(before_life)
                server.kill()
                for job in jobs:
                    job()
        with Tenured(folder=folder) as server:
            compare(server, ledger)
            assert server.stop() == 0, server.log()
        with Tenured(folder=folder) as server:
            compare(server, ledger)
    assert ledger.submitted and ledger.completed and ledger.succeeded and ledger.fence, "nothing was acknowledged"
    print(f"crash: {times} kills; {len(ledger.submitted)} submissions, {len(ledger.completed)} completions, "
          f"{sum(ledger.succeeded.values())} offsets acknowledged, fence {ledger.fence}: nothing lost")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10, SLOW_SYNC if "--slow-sync" in sys.argv else ())
