"""Journals of real runs keep the model's rules; journals that were tampered with do not.

Environment: TENURE and TENURED, the programs.
"""

import copy
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "model"), str(ROOT / "tests" / "e2e")]

import journal_rules  # noqa: E402
from tenured import Failed, Tenured, in_thread  # noqa: E402

TENURE = os.environ["TENURE"]
WORKERS = 6
SECONDS_A_LIFE = 1.5
LIVES = 3


def work(server, number):
    """A worker as careless as can be: short leases, late reports, reports for others, until the server is gone."""
    dice = random.Random(number)
    old = []
    with server.connect() as client:
        while True:
            client.ask("TASK.SUBMIT", "q", "p", "RETRIES", "1", "BACKOFF", "1", "5", "ATTEMPTS", "4")
            leases = client.ask("TASK.LEASE", f"w{number}", "1", "q", "LEASE", "20")
            for lease in leases or []:
                task, token = lease[1], lease[3]
                old.append((task, token))
                choice = dice.random()
                if choice < 0.2:
                    time.sleep(0.03)
                if choice < 0.5:
                    client.ask("TASK.EXTEND", task, token)
                if choice < 0.7:
                    client.ask("TASK.COMPLETE", task, token)
                elif choice < 0.9:
                    client.ask("TASK.FAIL", task, token, "no luck")
            if old and dice.random() < 0.2:
                client.ask("TASK.COMPLETE", *dice.choice(old))
            if old and dice.random() < 0.05:
                try:
                    client.ask("TASK.KILL", dice.choice(old)[0], "not wanted")
                except Failed:
                    pass  # it has ended


def until_killed(server, number):
    try:
        work(server, number)
    except (ConnectionError, EOFError):
        pass


class RealJournals(unittest.TestCase):
    def test_the_golden_journal_keeps_the_rules(self):
        records = journal_rules.dump(TENURE, ROOT / "tests" / "golden" / "v1" / "journal")
        self.assertGreater(journal_rules.check(records), 200)

    def test_the_demo_keeps_the_rules(self):
        with tempfile.TemporaryDirectory(prefix="tenure-model-") as folder:
            subprocess.run([TENURE, "demo", "--keep", f"{folder}/demo"], check=True, stdout=subprocess.DEVNULL)
            self.assertEqual(7, journal_rules.check(journal_rules.dump(TENURE, f"{folder}/demo")))

    def test_a_server_killed_under_load_keeps_the_rules(self):
        with tempfile.TemporaryDirectory(prefix="tenure-model-") as folder:
            for _ in range(LIVES):
                with Tenured(folder=folder) as server:
                    workers = [in_thread(lambda number=number: until_killed(server, number)) for number in range(WORKERS)]
                    time.sleep(SECONDS_A_LIFE)
                    server.kill()
                    for join in workers:
                        join()
            records = journal_rules.dump(TENURE, folder)
        kinds = {record["record"] for record in records}
        for kind in ("LeaseExpired", "LeaseExtended", "TaskCompleted", "TaskFailed", "TaskCancelled", "TaskDead"):
            self.assertIn(kind, kinds)
        print(f"{journal_rules.check(records)} records of tasks over {LIVES} lives keep the rules")


class TamperedJournals(unittest.TestCase):
    """Each takes the demo's journal, in which W1 loses its lease and W2 completes, and changes one thing."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="tenure-model-") as folder:
            subprocess.run([TENURE, "demo", "--keep", f"{folder}/demo"], check=True, stdout=subprocess.DEVNULL)
            cls.records = journal_rules.dump(TENURE, f"{folder}/demo")

    def assert_refused(self, kind, change):
        records = copy.deepcopy(self.records)
        place = {record["record"]: place for place, record in reversed(list(enumerate(records)))}[kind]
        change(records, place)
        with self.assertRaisesRegex(journal_rules.Broken, "rules"):
            journal_rules.check(records)

    def test_completed_by_a_lease_that_was_lost(self):
        self.assert_refused("TaskCompleted", lambda records, at: records[at].update(lease_id=records[1]["lease_id"]))

    def test_completed_twice(self):
        self.assert_refused("TaskCompleted", lambda records, at: records.insert(at, copy.deepcopy(records[at])))

    def test_a_lease_ended_before_its_time(self):
        self.assert_refused("LeaseExpired", lambda records, at: records[at].update(stamp=records[at]["stamp"] - 5000))

    def test_a_lease_that_lasts_is_granted_again(self):
        def grant_at_once(records, at):
            del records[at]
            records[at].update(stamp=records[at]["stamp"] - 5000)

        self.assert_refused("LeaseExpired", grant_at_once)

    def test_a_fence_given_twice(self):
        def give_again(records, _):
            token = records[1]["lease_id"]
            for record in records:
                if record.get("lease_id", "").startswith("2-"):
                    record["lease_id"] = token

        self.assert_refused("LeaseGranted", give_again)

    def test_a_report_refused_though_its_lease_lasts(self):
        def refuse(records, at):
            refused = dict(records[at], record="TaskCancelled")
            records.insert(at, refused)

        self.assert_refused("TaskCompleted", refuse)

    def test_a_task_forgotten_that_waits(self):
        def forget(records, at):
            records[at + 1 : at + 1] = [dict(records[at], record="Forgotten", kind="task", name="T1")]

        self.assert_refused("LeaseExpired", forget)

    def test_a_journal_without_its_beginning_is_not_judged(self):
        with self.assertRaisesRegex(journal_rules.Broken, "from its first record"):
            journal_rules.check(self.records[1:])


if __name__ == "__main__":
    unittest.main(verbosity=2)
