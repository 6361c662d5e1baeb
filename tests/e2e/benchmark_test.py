"""redis-benchmark against the real server: it runs through, and every request is answered without an error."""

import re
import subprocess
import unittest

import tenured
from tenured import Tenured


class Benchmark(unittest.TestCase):
    def run_against(self, server, *words, requests=5000):
        found = subprocess.run(["redis-benchmark", "-h", "127.0.0.1", "-p", str(server.port), "-c", "20", "-n",
                                str(requests), "-r", "1000000", "-q", *words],
                               capture_output=True, text=True, timeout=2 * tenured.PATIENCE, check=False)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
        self.assertNotIn("Error", found.stdout + found.stderr)
        self.assertNotIn("WARNING", found.stdout + found.stderr)
        rates = re.findall(r"([\d.]+) requests per second", found.stdout)
        self.assertTrue(rates and all(float(rate) > 0 for rate in rates), found.stdout)

    def test_ping(self):
        with Tenured() as server:
            self.run_against(server, "-t", "ping")
            self.run_against(server, "-t", "ping", "-P", "16")

    def test_lock_acquire(self):
        with Tenured() as server:
            self.run_against(server, "LOCK.ACQUIRE", "bench", "lock __rand_int__", "owner")
            self.run_against(server, "-P", "16", "LOCK.ACQUIRE", "bench", "lock __rand_int__", "owner")
            with server.connect() as client:
                self.assertTrue(client.ask("LOCK.LIST", "bench", "COUNT", "1")[1], "locks were taken")


if __name__ == "__main__":
    tenured.main()
