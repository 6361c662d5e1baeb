"""What clients did and were told: one line of JSON an operation, each client in a file of its own.

Times are nanoseconds of the machine's monotonic clock, which all processes share: `begin` was read before the request was
sent, `end` when its answer was there (absent: it never came, and nobody knows what became of the request).
"""

import json
import time
from typing import NamedTuple, Optional


class Operation(NamedTuple):
    client: str
    kind: str  # acquire, release, submit, lease, complete, take, succeed, write
    name: str  # the lock, the task or the domain
    begin: int
    end: Optional[int] = None
    answer: Optional[str] = None  # None: unknown
    fence: int = 0
    offset: int = -1  # of a domain
    lease: int = 0  # nanoseconds
    until: int = 0  # of a grant: when its holder stopped to believe in it; without an answer: the latest effect


class Writer:
    """One client's file. Every line is written whole before the client goes on: it may be killed at any time."""

    def __init__(self, path, client):
        self.file = open(path, "a", buffering=1, encoding="utf-8")
        self.client = client

    def note(self, kind, name, begin, **rest):
        self.file.write(json.dumps(Operation(self.client, kind, name, begin, **rest)._asdict()) + "\n")


def now():
    return time.monotonic_ns()


def read(paths):
    """All operations. One that was begun (`ask`) and never noted was its client's last: it was killed."""
    operations = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            lines = [Operation(**json.loads(line)) for line in file if line.endswith("\n")]  # the last may be cut off
        noted = {op.begin for op in lines if op.kind != "ask"}
        operations += [op for op in lines if op.kind != "ask"]
        operations += [op._replace(kind="acquire") for op in lines if op.kind == "ask" and op.begin not in noted]
    return operations
