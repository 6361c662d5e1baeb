"""Schemathesis makes requests out of /openapi.json, right and wrong ones, and compares every response with it.

Without /v1/events, which has no end (events_test.py is about that), and the description itself, which it passes over.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import tenured
from tenured import Tenured

CLIENTS = os.environ["SCHEMATHESIS"]
SEED = "8369"
# Of each route, beside those for its limits.
EXAMPLES = "10"

# Nobody waits for hours: the longest waits become short ones. A value that is no wait stays what it is.
HOOKS = """
import schemathesis

@schemathesis.hook
def before_call(context, case, kwargs):
    for arguments in (case.body, case.query):
        if not isinstance(arguments, dict):
            continue
        for name in ("block_ms", "wait_ms"):
            value = str(arguments.get(name, ""))
            if value.isdecimal() and 20 < int(value) <= 86_400_000:
                arguments[name] = 20
"""


class Schemathesis(unittest.TestCase):
    def test_every_response_is_as_described(self):
        self.assertTrue(os.path.isdir(CLIENTS), f"{CLIENTS}: expected schemathesis, found none: run scripts/test_clients")
        with Tenured() as server, tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "short_waits.py"), "w", encoding="ascii") as hooks:
                hooks.write(HOOKS)
            url = f"http://127.0.0.1:{server.http_port}"
            # All checks but two: whether what the description allows is accepted (it cannot say all: a name has no
            # control characters, an id must exist), and whether a server without users asks for one.
            ran = subprocess.run(
                [sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json", "--exclude-path", "/v1/events",
                 "--phases", "coverage,fuzzing", "--exclude-checks", "positive_data_acceptance,ignored_auth",
                 "--max-examples", EXAMPLES, "--seed", SEED, "--no-shrink", "--continue-on-failure",
                 "--request-timeout", "30", "--suppress-health-check", "all", "--warnings", "off", "--no-color"],
                env={**os.environ, "PYTHONPATH": f"{CLIENTS}:{folder}", "SCHEMATHESIS_HOOKS": "short_waits"},
                cwd=folder, capture_output=True, text=True, timeout=tenured.PATIENCE * 4, check=False)
            report = ran.stdout + ran.stderr
            self.assertEqual(ran.returncode, 0, report)
            with urllib.request.urlopen(f"{url}/openapi.json") as reply:
                paths = json.load(reply)["paths"]
            routes = sum(len(methods) for path, methods in paths.items() if path not in ("/v1/events", "/openapi.json"))
            self.assertIn(f"Tested: {routes}\n", report)
            made = re.search(r"(\d+) generated, (\d+) passed", report)
            self.assertEqual(made[1], made[2], report)
            self.assertGreater(int(made[1]), 10 * routes, report)
            with urllib.request.urlopen(f"{url}/healthz") as reply:
                self.assertEqual(reply.status, 200)
            print(made[0])
            self.assertEqual(server.stop(), 0, server.log())


if __name__ == "__main__":
    tenured.main()
