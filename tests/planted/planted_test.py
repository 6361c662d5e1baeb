"""That the tests of real processes catch what they are for: each check passes with tenured, and fails, for the reason that
is expected, with a tenured that has a bug planted on purpose.

  planted_test.py BUG

Environment: TENURED and TENURED_PLANTED, the two servers; and what the checks need.
"""

import os
import pathlib
import re
import subprocess
import sys

E2E = pathlib.Path(__file__).resolve().parent.parent / "e2e"

# The check, and what it says of the bug.
CHECKS = {
    "answer_before_durable": (
        ["crash_test.py", "3", "--slow-sync"],
        r"acknowledged and is lost|its completion is lost|is done, found|fence \d+ after"),
    "waiter_kept": (
        ["waiting_test.py", "Waiting.test_a_waiter_whose_client_died_never_receives_a_grant",
         "Waiting.test_a_dead_workers_wait_takes_no_task"], r"nobody was granted it in between|'LEASED' != 'WAITING'"),
    "output_without_limit": (
        # It takes too much; or is cut off only when all connections together do.
        ["bad_input_test.py", "Limits.test_a_client_that_never_reads_is_cut_off"],
        r"\d+ not less than \d+|the buffers of all connections are too large"),
    "permission_missing": (
        ["users_test.py", "Users.test_roles_are_for_the_names_that_match"],
        r"Failed not raised|\^NOPERM .* does not match"),
}


def run(check, server, **environment):
    """Whether it passes, and what it says."""
    done = subprocess.run([sys.executable, str(E2E / check[0]), *check[1:]], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, env=dict(os.environ, TENURED=server, **environment), check=False)
    return done.returncode == 0, done.stdout


def main():
    bug = sys.argv[1]
    check, expected = CHECKS[bug]
    passes, told = run(check, os.environ["TENURED"])
    assert passes, f"{check} fails without the bug:\n{told}"
    passes, told = run(check, os.environ["TENURED_PLANTED"], TENURE_PLANT=bug)
    assert not passes, f"{bug}: not caught by {check}:\n{told}"
    assert re.search(expected, told), f"{bug}: {check} fails, but not for {expected!r}:\n{told}"
    print(f"{bug}: caught by {' '.join(check)}")


if __name__ == "__main__":
    main()
