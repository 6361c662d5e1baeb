#!/usr/bin/env python3
"""Replays journals of real runs against the model's rules.

  model/journal_rules.py TENURE FOLDER...

The records of tasks in each data folder, as `tenure journal dump` tells them, become calls of the inlines of rules.pml, and
Spin runs them: a record that the model would not have allowed is an assertion that fails. Journals from their first
record on; one whose oldest segments are gone cannot be judged.
Exit status 0: every record keeps the rules. 1: one does not, and which.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

RULES = pathlib.Path(__file__).resolve().parent / "rules.pml"
TASKS_A_PROGRAM = 100
RECORDS_A_PROGRAM = 2000


class Broken(Exception):
    """A record that the rules do not allow, or a journal that cannot be judged."""


class Journal:
    """The records of tasks, task by task, with what the rules need to know of everything else."""

    def __init__(self, records):
        self.tasks = {}  # task id -> its records, in order
        self.top_before = {}  # place of a grant -> the highest fence before it, of whatever kind
        self.begin = records[0]["stamp"] if records else 0
        self.ranks = {0: 0}
        task_of_lease = {}
        top = 0
        for place, record in enumerate(records):
            record["place"] = place
            fence = granted_fence(record)
            if record["record"] == "LeaseGranted":
                self.top_before[place] = top
                task_of_lease[record["lease_id"]] = record["task_id"]
            top = max(top, fence)
            task = task_of(record, task_of_lease)
            if task is not None:
                self.tasks.setdefault(task, []).append(record)
        fences = sorted({fence for record in records for fence in (granted_fence(record), claimed_fence(record))} | {0})
        self.ranks = {fence: rank for rank, fence in enumerate(fences)}


def task_of(record, task_of_lease):
    """The task that a record is about; None: it is about something else."""
    if record["record"] == "Forgotten":
        return record["name"] if record["kind"] == "task" else None
    if record["record"] == "LeaseExtended":
        return record.get("task_id", task_of_lease.get(record["lease_id"]))
    return record.get("task_id")


def fence_of(token):
    found = re.fullmatch(r"(\d+)-[0-9a-f]{16}", token or "")
    return int(found[1]) if found else 0


def claimed_fence(record):
    return fence_of(record.get("lease_id"))


def granted_fence(record):
    """The fence that this record gives away or raises; 0: none."""
    if record["record"] == "FenceRaised":
        return record["fence"]
    if record["record"] == "LeaseGranted":
        return fence_of(record["lease_id"])
    if record["record"] in ("WorkAcquired", "LockGranted"):
        return fence_of(record["token"])
    return 0


def call_of(journal, number, record):
    """One record as statements of Promela."""
    book = f"task[{number}]"
    fence = journal.ranks[claimed_fence(record)]
    kind = record["record"]
    if kind == "LeaseGranted":
        top = journal.ranks[journal.top_before[record["place"]]]
        expiry = record["lease_expiry"] - journal.begin
        return f"{book}.top = {top}; lease_granted({book}, {fence}); expiry[{number}] = {expiry}"
    if kind == "LeaseExtended":
        expiry = record["new_lease_expiry"] - journal.begin
        return f"lease_extended({book}, {fence}); expiry[{number}] = {expiry}"
    if kind == "TaskFailed":
        return f"task_failed({book}, {fence}, {record.get('next_state', 'WAITING')})"
    return {
        "TaskCreated": f"task_created({book})",
        "LeaseExpired": f"lease_expired({book}, {fence})",
        "TaskCompleted": f"task_completed({book}, {fence})",
        "TaskCancelled": f"task_cancelled({book}, {fence})",
        "TaskDead": f"task_dead({book})",
        "Forgotten": f"task_forgotten({book})",
    }[kind]


def program_of(journal, tasks):
    """The program that replays these tasks; `place` says how far it has got."""
    lines = [
        "int now, place;",
        "byte current;",
        f"int expiry[{len(tasks)}];",
        "#define is_over(b) (now > expiry[current])",
        f'#include "{RULES.name}"',
        f"Book task[{len(tasks)}];",
        "init { d_step {",
    ]
    for number, task in enumerate(tasks):
        for record in journal.tasks[task]:
            now = record["stamp"] - journal.begin
            lines.append(f"current = {number}; now = {now}; place = {record['place']}; {call_of(journal, number, record)};")
    return "\n".join([*lines, "skip } }", ""])


def chunks(journal):
    """The tasks, so many at a time that Spin reads the program quickly."""
    chunk, count = [], 0
    for task, records in journal.tasks.items():
        if chunk and (len(chunk) == TASKS_A_PROGRAM or count + len(records) > RECORDS_A_PROGRAM):
            yield chunk
            chunk, count = [], 0
        chunk.append(task)
        count += len(records)
    if chunk:
        yield chunk


def replay(journal, tasks, folder):
    (folder / "replay.pml").write_text(program_of(journal, tasks), encoding="ascii")
    done = subprocess.run(["spin", "-b", "replay.pml"], cwd=folder, capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    broken = re.search(r"text of failed assertion: assert\((.*)\)", told)
    if broken:
        place = int(re.search(r"^\s*place = (\d+)$", told, re.MULTILINE)[1])
        record = next(record for task in tasks for record in journal.tasks[task] if record["place"] == place)
        raise Broken(f"against the model's rules, expected {broken[1]}: {json.dumps(record)}")
    if done.returncode != 0 or "1 process created" not in told:
        raise Broken(f"spin ended with {done.returncode}:\n{told}")


def check(records):
    """Raises Broken; otherwise the number of records of tasks that were replayed."""
    if records and records[0]["sequence"] != 1:
        raise Broken(f"expected a journal from its first record on, found one from {records[0]['sequence']} on")
    journal = Journal(records)
    with tempfile.TemporaryDirectory(prefix="tenure-rules-") as name:
        folder = pathlib.Path(name)
        (folder / RULES.name).write_bytes(RULES.read_bytes())
        for tasks in chunks(journal):
            replay(journal, tasks, folder)
    return sum(map(len, journal.tasks.values()))


def dump(tenure, folder):
    done = subprocess.run([tenure, "journal", "dump", str(folder)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Broken(f"tenure journal dump {folder} ended with {done.returncode}:\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    for folder in sys.argv[2:]:
        try:
            print(f"{folder}: {check(dump(sys.argv[1], folder))} records of tasks keep the model's rules")
        except Broken as broken:
            print(f"{folder}: {broken}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
