"""Starting, stopping, and each refusal to start, which says why and what to do."""

import os
import signal
import subprocess
import tempfile
import time
import unittest

import sanitized
import tenured
from tenured import FREE_PORTS, PROGRAM, Failed, Tenured, in_thread


def run(*flags, env=None):
    return subprocess.run([PROGRAM, *flags], capture_output=True, text=True, timeout=tenured.PATIENCE,
                          env={**os.environ, **(env or {})}, check=False)


class Refusals(unittest.TestCase):
    def refused(self, found, *expected):
        self.assertNotEqual(found.returncode, 0, found.stderr)
        for text in expected:
            self.assertIn(text, found.stderr)

    def test_a_port_in_use(self):
        with Tenured() as first, tempfile.TemporaryDirectory() as folder:
            self.refused(run("--data", folder, "--http-port", "0", "--port", str(first.port)),
                         f"127.0.0.1:{first.port}", "in use", "--port")

    def test_an_http_port_in_use(self):
        with Tenured() as first, tempfile.TemporaryDirectory() as folder:
            self.refused(run("--data", folder, "--port", "0", "--http-port", str(first.http_port)),
                         f"127.0.0.1:{first.http_port}", "in use", "--http-port")

    def test_a_folder_in_use(self):
        with Tenured() as first:
            self.refused(run("--data", first.folder, *FREE_PORTS), first.folder, "in use by process", "--data")

    def test_a_damaged_journal(self):
        with tempfile.TemporaryDirectory() as folder:
            with Tenured(folder=folder) as server, server.connect() as client:
                for i in range(100):
                    client.ask("TASK.SUBMIT", "q", f"payload {i}")
                self.assertEqual(server.stop(), 0)
            journal = next(os.path.join(where, name) for where, _, names in os.walk(folder) for name in sorted(names)
                           if name.endswith(".journal"))
            with open(journal, "r+b") as file:
                file.seek(1000)
                file.write(b"damage")
            self.refused(run("--data", folder, *FREE_PORTS), os.path.basename(journal), "expected", "repair")

    def test_a_folder_that_cannot_be_written(self):
        with tempfile.NamedTemporaryFile() as file:
            self.refused(run("--data", file.name + "/below", *FREE_PORTS), file.name)

    def test_bad_flags(self):
        self.refused(run("--prot", "1"), "--prot", "--help")
        self.refused(run("--port", "65536"), "--port", "--help")
        self.refused(run("--port", "many"), "--port", "--help")
        self.refused(run("--connections", "0"), "--connections")
        self.refused(run(*FREE_PORTS, "--bind", "nowhere"), "--bind", "nowhere")
        self.refused(run(env={"TENURE_PORT": "x"}), "port")
        self.refused(run("--config", "/missing/file"), "/missing/file")

    def test_an_address_that_others_can_reach(self):
        with tempfile.TemporaryDirectory() as folder:
            self.refused(run("--data", folder, *FREE_PORTS, "--bind", "0.0.0.0"), "0.0.0.0", "--insecure")
            self.assertEqual(os.listdir(folder), [], "a start that is refused leaves the folder alone")

    def test_an_address_that_the_machine_does_not_have(self):
        with tempfile.TemporaryDirectory() as folder:
            self.refused(run("--data", folder, *FREE_PORTS, "--insecure", "--bind", "203.0.113.1"), "203.0.113.1",
                         "--bind")


class Starts(unittest.TestCase):
    def test_help_names_every_option_and_its_default(self):
        found = run("--help")
        self.assertEqual(found.returncode, 0)
        for option in ("--data", "--bind", "--port", "--http-port", "--insecure", "--connections", "--request-bytes",
                       "--output-bytes", "--state-bytes", "--waiters", "--config", "TENURE_HTTP_PORT", "8368"):
            self.assertIn(option, found.stdout)

    def test_version(self):
        self.assertRegex(run("--version").stdout, r"^tenured \d+\.\d+\.\d+\n$")

    def test_listens_at_every_address(self):
        with Tenured("--bind", "127.0.0.1", "--bind", "::1") as server:
            self.assertEqual([host for host, _ in server.addresses], ["127.0.0.1", "::1"])
            self.assertEqual([host for host, _ in server.http_addresses], ["127.0.0.1", "::1"])
            for host, port in server.addresses:
                with tenured.Client(port, host) as client:
                    self.assertEqual(client.ask("PING"), "PONG")

    def test_flags_count_before_the_file_and_that_before_the_environment(self):
        with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
            file.write("waiters = 7\nbacklog = 8\n")
            file.flush()
            os.environ.update(TENURE_WAITERS="70", TENURE_BACKLOG="80", TENURE_DOMAINS="90")
            try:
                with Tenured("--config", file.name, "--waiters", "700") as server, server.connect() as client:
                    told = client.ask("CONFIG", "GET", "waiters", "backlog", "domains")
            finally:
                del os.environ["TENURE_WAITERS"], os.environ["TENURE_BACKLOG"], os.environ["TENURE_DOMAINS"]
        self.assertEqual(dict(zip(told[::2], told[1::2])), {"waiters": "700", "backlog": "8", "domains": "90"})

    def test_without_standard_output_no_file_is_taken_for_it(self):
        with Tenured(before=("sh", "-c", 'exec "$@" >&-', "sh")) as server:
            self.assertEqual(os.readlink(f"/proc/{server.process.pid}/fd/1"), "/dev/null")

    def test_logs_in_utc(self):
        with Tenured() as server:
            self.assertRegex(server.lines[0], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info starting version=\d")


class Stops(unittest.TestCase):
    def test_sigterm_loses_nothing_and_the_digest_is_journaled(self):
        with tempfile.TemporaryDirectory() as folder:
            done = []
            with Tenured(folder=folder) as server, server.connect() as client:
                def submit():
                    try:
                        while True:
                            done.append(client.ask("TASK.SUBMIT", "q", "p")[0])
                    except (Failed, EOFError, ConnectionError):
                        return
                busy = in_thread(submit)
                while len(done) < 50:
                    time.sleep(0.001)
                self.assertEqual(server.stop(), 0, server.log())
                busy()
            with Tenured(folder=folder) as server, server.connect() as client:
                for task in done:
                    self.assertEqual(client.ask("TASK.GET", task)[5], "WAITING")

    def test_waits_end_with_their_empty_answers(self):
        with Tenured() as server, server.connect() as client, server.connect() as other:
            client.put("TASK.LEASE", "w", "1", "q", "BLOCK", "600000")
            other.put("CLIENT", "ID")
            other.reply()
            while "flags=b" not in other.ask("CLIENT", "LIST"):
                pass
            server.signal(signal.SIGTERM)
            self.assertEqual(client.reply(), [])
            self.assertTrue(client.is_closed_by_server())
            self.assertEqual(server.wait(), 0)

    def test_within_ten_seconds_though_a_client_takes_nothing(self):
        with Tenured() as server, server.connect(receive_buffer=4096) as greedy:
            with server.connect() as client:
                client.ask("TASK.SUBMIT", "q", "x" * 1_000_000, "ID", "big")
                client.ask("TASK.LEASE", "w", "1", "q")
                client.ask("TASK.COMPLETE", "big", client.ask("TASK.GET", "big")[21], "RESULT", "x" * 1_000_000)
            for _ in range(30):
                greedy.put("TASK.GET", "big")
            began = time.monotonic()
            self.assertEqual(server.stop(), 0, server.log())
            self.assertLess(time.monotonic() - began, sanitized.seconds(10))

    def test_shutdown_closes_the_connection_and_exits(self):
        with Tenured() as server, server.connect() as client, server.connect() as idle:
            idle.ask("PING")
            client.put("SHUTDOWN")
            self.assertTrue(client.is_closed_by_server())
            self.assertEqual(server.wait(), 0, server.log())

    def test_a_failed_journal_is_told_to_those_who_wait_and_ends_the_server_within_a_second(self):
        # The first two hundred and sixty fill the first segment.
        inject = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e",
                  "inject=pwrite64:error=EIO:when=300+"]
        with Tenured(before=inject) as server, server.connect() as waiter, server.connect() as client:
            waiter.put("LOCK.ACQUIRE", "d", "i", "me")
            waiter.reply()
            waiter.put("TASK.LEASE", "w", "1", "none", "BLOCK", "600000")
            with self.assertRaises((Failed, EOFError)) as failed:
                for _ in range(400):
                    client.ask("TASK.SUBMIT", "q", "p")
            began = time.monotonic()
            self.assertIsInstance(failed.exception, Failed, "it is told before the connection is closed")
            self.assertTrue(str(failed.exception).startswith("UNAVAILABLE"), failed.exception)
            with self.assertRaisesRegex(Failed, "^UNAVAILABLE"):
                waiter.reply()
            self.assertNotEqual(server.wait(), 0)
            self.assertLess(time.monotonic() - began, sanitized.seconds(3))
            server.await_log("the journal has failed")


if __name__ == "__main__":
    tenured.main()
