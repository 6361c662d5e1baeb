"""`tenure demo --live` keeps a real server busy with everything it has, and ends when it is told to."""

import json
import os
import signal
import subprocess
import unittest
import urllib.request

import tenured
from tenured import PATIENCE, Tenured

PROGRAM = os.environ["TENURE"]


class LiveDemo(unittest.TestCase):
    def test_it_fills_a_server_with_work(self):
        with Tenured() as server:
            ran = subprocess.run([PROGRAM, "demo", "--live", "--server", f"127.0.0.1:{server.port}", "--for", "6s",
                                  "--pace", "4"], capture_output=True, text=True, timeout=PATIENCE, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn("is busy now", ran.stdout)
            with urllib.request.urlopen(f"http://127.0.0.1:{server.http_port}/v1/status") as reply:
                work = json.load(reply)["work"]
            self.assertGreater(work["tasks_submitted"], 10, work)
            self.assertGreater(work["tasks_ended"]["completed"], 3, work)
            for book in ("task", "work", "lock"):
                self.assertGreater(work["leases_granted"][book], 3, work)
            # A second time it goes on where the first has ended.
            again = subprocess.run([PROGRAM, "demo", "--live", "--server", f"127.0.0.1:{server.port}", "--for", "1s"],
                                   capture_output=True, text=True, timeout=PATIENCE, check=False)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(server.stop(), 0, server.log())

    def test_ctrl_c_ends_it(self):
        with Tenured() as server:
            with subprocess.Popen([PROGRAM, "demo", "--live", "--server", f"127.0.0.1:{server.port}"],
                                  stdout=subprocess.PIPE, text=True) as demo:
                self.assertIn("is busy now", demo.stdout.readline())
                demo.send_signal(signal.SIGINT)
                self.assertEqual(demo.wait(PATIENCE), 0)

    def test_it_says_that_the_server_has_gone_and_goes_on_when_it_is_back(self):
        with Tenured() as server:
            with subprocess.Popen([PROGRAM, "demo", "--live", "--pace", "4", "--server", f"127.0.0.1:{server.port}"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as demo:
                self.assertIn("is busy now", demo.stdout.readline())
                server.kill()
                self.assertIn("does not answer", demo.stderr.readline())
                with Tenured(folder=server.folder, port=server.port):
                    self.assertIn("answers again", demo.stderr.readline())
                    demo.send_signal(signal.SIGINT)
                    self.assertEqual(demo.wait(PATIENCE), 0)

    def test_without_a_server_it_says_so(self):
        ran = subprocess.run([PROGRAM, "demo", "--live", "--server", "127.0.0.1:1"], capture_output=True, text=True,
                             timeout=PATIENCE, check=False)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("127.0.0.1:1", ran.stderr)

    def test_options_of_the_live_demo_need_it(self):
        ran = subprocess.run([PROGRAM, "demo", "--pace", "3"], capture_output=True, text=True, timeout=PATIENCE,
                             check=False)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("--live", ran.stderr)


if __name__ == "__main__":
    tenured.main()
