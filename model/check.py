#!/usr/bin/env python3
"""Has Spin search the model: the laws hold in every state, and with any one rule taken away some law is broken.

  model/check.py           a few seconds a search, as in `make test` and `make model`
  model/check.py --long    with repeated requests throughout; minutes, and gigabytes of memory

Exit status 0: all of that was seen. 1: something else was, and where.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

MODEL = pathlib.Path(__file__).resolve().parent / "authority.pml"

# What is searched to the end, by the bounds of the world.
WORLDS = [
    {"FIRST_ROUNDS": 2, "SECOND_ROUNDS": 1, "CRASHES": 2, "REPEATS": 0},
]
LONG_WORLDS = [
    {"FIRST_ROUNDS": 1, "SECOND_ROUNDS": 1, "CRASHES": 1, "REPEATS": 1},
    {"FIRST_ROUNDS": 2, "SECOND_ROUNDS": 2, "CRASHES": 1, "REPEATS": 0},
]

# The rule taken away, the repeats that it takes to see it, and the law that must be found broken.
MUTATIONS = [
    ("ANSWER_BEFORE_SYNC", 0, "told_max"),
    ("FENCE_IN_MEMORY", 0, "told_max"),
    ("ANY_TOKEN", 0, "committed"),
    ("EARLY_EXPIRY", 0, "passed"),
    ("FORGOTTEN_REQUESTS", 1, "disk_grant"),
    ("DEADLINE_FROM_ANSWER", 0, "believed"),
    ("UNGUARDED", 0, "newest_write"),
]


class Failure(Exception):
    """The search said something else than it must."""


def search(defines):
    """Searches every state; (number of states, the assertion that was broken or None)."""
    with tempfile.TemporaryDirectory(prefix="tenure-model-") as folder:
        run(["spin", *(f"-D{define}" for define in defines), "-a", str(MODEL)], folder)
        run(["cc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c"], folder)
        told = run(["./pan", "-m1000000"], folder)
    states = re.search(r"(\d+) states, stored", told)
    errors = re.search(r"errors: (\d+)", told)
    if not states or not errors:
        raise Failure(f"the search did not end as one does:\n{told}")
    if "max search depth too small" in told or "out of memory" in told:
        raise Failure(f"the search was not complete:\n{told}")
    broken = re.search(r"assertion violated (.*) \(at depth", told)
    if errors[1] != "0" and not broken:
        raise Failure(f"an error that is no broken law:\n{told}")
    return int(states[1]), broken[1].strip() if broken else None


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def defines_of(world):
    return [f"{name}={value}" for name, value in world.items()]


def check_world(world):
    states, broken = search(defines_of(world))
    if broken:
        raise Failure(f"{world}: broken: {broken}")
    print(f"model: {world}: {states} states, every law holds", flush=True)


def check_mutation(name, repeats, law):
    states, broken = search([name, f"REPEATS={repeats}"])
    if broken is None:
        raise Failure(f"{name}: no law broken in {states} states")
    if law not in broken:
        raise Failure(f"{name}: expected a broken law about {law}, found: {broken}")
    print(f"model: {name}: caught after {states} states: {broken}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="search the larger worlds, too")
    arguments = parser.parse_args()
    try:
        for world in WORLDS + (LONG_WORLDS if arguments.long else []):
            check_world(world)
        for mutation in MUTATIONS:
            check_mutation(*mutation)
    except Failure as failure:
        print(f"model: {failure}", file=sys.stderr)
        return 1
    print(f"model: {len(MUTATIONS)} of {len(MUTATIONS)} mutations caught")
    return 0


if __name__ == "__main__":
    sys.exit(main())
