#!/usr/bin/env python3
"""Kills a real process that writes a real journal, and makes its system calls fail.

  process_test.py kill WRITER [TIMES]    kill -9 in a loop: everything it had printed is there at the next start
  process_test.py inject WRITER          strace makes one write or sync fail: nothing is acknowledged after it, and
                                         everything acknowledged is there at the next start
"""

import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
import sanitized  # noqa: E402


def check(condition, message):
    if not condition:
        sys.exit(f"process_test: {message}")


class Acknowledged:
    """What the writer said was done, over all its lives."""

    def __init__(self):
        self.submitted = set()
        self.completed = set()

    def add(self, output):
        # The last line may have been cut off by the kill: then nobody was told.
        lines = output[: output.rfind("\n") + 1].splitlines()
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "submitted":
                self.submitted.add(rest)
            elif word == "completed":
                self.completed.add(rest)
        return lines

    def compare(self, writer, folder):
        """Opens the folder (which compares the journal's digests, too) and looks for all of it."""
        there = self.list(writer, folder)
        if self.submitted - there.keys():
            # A task whose lease, left by a killed process, ends between two pages may be on neither: look once more.
            there = self.list(writer, folder)
        lost = self.submitted - there.keys()
        check(not lost, f"{len(lost)} acknowledged submissions are lost, e.g. {sorted(lost)[:3]}")
        undone = [task for task in self.completed if there[task] != "COMPLETED"]
        check(not undone, f"{len(undone)} acknowledged completions are lost, e.g. {undone[:3]}")

    @staticmethod
    def list(writer, folder):
        run = subprocess.run([writer, folder, "--check"], capture_output=True, text=True, timeout=sanitized.seconds(120))
        check(run.returncode == 0, f"the journal does not open again: {run.stdout[-500:]} {run.stderr[-500:]}")
        return dict(line.split(" ")[1:3] for line in run.stdout.splitlines())


def kill(writer, times):
    acknowledged = Acknowledged()
    with tempfile.TemporaryDirectory(prefix="tenure-kill-") as scratch:
        folder = str(Path(scratch) / "data")
        for _ in range(times):
            process = subprocess.Popen([writer, folder], stdout=subprocess.PIPE, text=True)
            time.sleep(random.uniform(0.05, 0.4))
            process.kill()
            output, _ = process.communicate(timeout=60)
            lines = acknowledged.add(output)
            check(not any(line.startswith("failed") for line in lines), f"it failed by itself: {lines[-1:]}")
            acknowledged.compare(writer, folder)
    check(acknowledged.submitted and acknowledged.completed, "nothing was acknowledged: the test has shown nothing")
    print(f"kill: {times} kills, {len(acknowledged.submitted)} submissions and {len(acknowledged.completed)} completions "
          "acknowledged, none lost")


def inject(writer):
    shown = 0
    for call, options in (("pwrite64", []), ("fdatasync", ["--synced"])):
        for error in ("EIO", "ENOSPC"):
            for when in (20, 60, 150):
                acknowledged = Acknowledged()
                with tempfile.TemporaryDirectory(prefix="tenure-inject-") as scratch:
                    folder, log = str(Path(scratch) / "data"), Path(scratch) / "strace"
                    command = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={call},write", "-e",
                               f"inject={call}:error={error}:when={when}+", writer, folder, *options]
                    run = subprocess.run(command, capture_output=True, text=True, timeout=sanitized.seconds(120),
                                         env=sanitized.environment(is_traced=True))
                    check(run.returncode == 3, f"{call} {error} at {when}: expected status 3, found {run.returncode}: "
                          f"{run.stdout[-300:]} {run.stderr[-300:]}")
                    acknowledged.add(run.stdout)
                    check("failed" in run.stdout, f"{call} {error} at {when}: it did not say that it failed")
                    check_silence(log.read_text(), call, error, when)
                    acknowledged.compare(writer, folder)
                    shown += len(acknowledged.submitted)
    check(shown > 0, "nothing was acknowledged before any failure: the test has shown nothing")
    print(f"inject: 12 runs, {shown} submissions acknowledged before the failures, none lost, none after")


def check_silence(log, call, error, when):
    """What is acknowledged after the first failed call must have been durable before it: at most one answer a thread."""
    lines = log.splitlines()
    failed = next((i for i, line in enumerate(lines) if "(INJECTED)" in line), None)
    check(failed is not None, f"{call} {error} at {when}: nothing was injected")
    after = [line for line in lines[failed:] if re.search(r'write\(1, "(submitted|completed)', line)]
    check(len(after) <= 4, f"{call} {error} at {when}: {len(after)} answers after the failure, e.g. {after[-1:]}")


def main():
    mode, writer = sys.argv[1], sys.argv[2]
    if mode == "kill":
        kill(writer, int(sys.argv[3]) if len(sys.argv) > 3 else 10)
    else:
        inject(writer)


if __name__ == "__main__":
    main()
