"""`tenure work` as scripts and people at a terminal use it: Ctrl-C, failing commands, a server restarted."""

import os
import shutil
import signal
import subprocess
import tempfile
import unittest

import tenured
from tenured import Tenured
from terminal import TENURE, Terminal, ask, environment, is_gone, run, until

NO_COMMAND = 127


class Working(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tenure-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.server = Tenured()
        self.addCleanup(lambda: self.server.__exit__())

    def path(self, name):
        return os.path.join(self.folder, name)

    def submit(self, *words):
        return ask("submit", "q", *words, server=self.server)["task_id"]

    def get(self, task):
        return ask("get", task, server=self.server)

    def await_state(self, task, state):
        return until(lambda: self.get(task)["state"] == state and self.get(task), f"{task} {state}")

    def work(self, *words, **more):
        return run("work", "--queue", "q", *words, server=self.server, **more)

    def start(self, *words):
        process = subprocess.Popen([TENURE, "work", "--queue", "q", *words], stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(self.server))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def terminal(self, *words):
        terminal = Terminal(TENURE, "work", "--queue", "q", *words, server=self.server)
        self.addCleanup(terminal.__exit__)
        return terminal

    # --- scripts ---

    def test_the_command_gets_the_payload_and_who_it_works_for(self):
        task = self.submit("payload")
        done = self.work("--count", "1", "--", "sh", "-c",
                         'echo "$(cat) $TENURE_TASK $TENURE_QUEUE $TENURE_ATTEMPT $TENURE_FENCE" "$@"', "sh", "[a,b]")
        self.assertEqual((done.stdout, done.returncode), (f"payload {task} q 1 1 [a,b]\n", 0), done.stderr)
        self.assertIn(f"{task}, attempt 1: done", done.stderr)
        self.assertIn("1 completed", done.stderr)

    def test_a_failing_command_fails_the_task_which_is_tried_again(self):
        task = self.submit("--retries", "1", "--backoff", "1ms", "p")
        done = self.work("--count", "2", "--", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 0)
        found = self.get(task)
        self.assertEqual((found["state"], found["attempt"], found["reason"]), ("FAILED", 2, "exit status 3"))

    def test_a_final_status_is_not_tried_again(self):
        task = self.submit("p")
        self.work("--count", "1", "--final-status", "3", "--final-status", "4", "--", "sh", "-c", "exit 4")
        self.assertEqual(self.get(task)["state"], "FAILED")

    def test_a_command_that_a_signal_ends_fails_the_task(self):
        task = self.submit("--retries", "0", "p")
        self.work("--count", "1", "--", "sh", "-c", "kill -9 $$")
        self.assertEqual(self.get(task)["reason"], "signal 9 (Killed)")

    def test_a_command_that_does_not_exist_ends_the_work(self):
        self.submit("p")
        done = self.work("--", "no-such-command")
        self.assertEqual(done.returncode, NO_COMMAND)
        self.assertIn("no-such-command", done.stderr)

    def test_large_payloads_and_results_go_through_the_pipes(self):
        payload = "0123456789abcdef" * (1 << 14)
        with open(self.path("payload"), "w", encoding="ascii") as file:
            file.write(payload)
        task = self.submit("--file", self.path("payload"))
        deaf = self.submit("--file", self.path("payload"))
        done = self.work("--count", "2", "--result", "--", "sh", "-c", f'if [ $TENURE_TASK = "{deaf}" ]; then exit 0; '
                         "else cat; fi")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.get(task)["result"], payload)
        self.assertEqual(self.get(deaf)["state"], "COMPLETED", "it did not read its payload")

    def test_several_at_a_time(self):
        for _ in range(4):
            self.submit("p")
        running = self.start("--concurrency", "4", "--", "sh", "-c",
                             f"touch {self.folder}/$TENURE_TASK; until [ -e {self.path('go')} ]; do sleep 0.05; done")
        until(lambda: len(os.listdir(self.folder)) == 4, "four at once")
        with open(self.path("go"), "w", encoding="ascii"):
            pass
        until(lambda: ask("list", server=self.server)["queues"][0]["completed"] == 4)
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(tenured.PATIENCE), 0)

    def test_a_lease_is_kept_while_the_command_runs(self):
        task = self.submit("p")
        done = self.work("--count", "1", "--lease", "2s", "--", "sleep", "4")
        self.assertEqual(done.returncode, 0)
        found = self.get(task)
        self.assertEqual((found["state"], found["attempt"]), ("COMPLETED", 1))
        self.assertGreater(ask("history", task, server=self.server)["attempts"][0]["extensions"], 0)

    def test_a_killed_task_stops_its_command_and_its_report_is_refused(self):
        task = self.submit("p")
        running = self.start("--lease", "3s", "--count", "1", "--", "sh", "-c", "echo $$; exec sleep 600")
        pid = running.stdout.readline().strip()
        run("kill", task, server=self.server)
        self.assertEqual(running.wait(tenured.PATIENCE), 0)
        self.assertIn("too late", running.stderr.read())
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
        self.assertEqual(self.get(task)["late"], 1)

    def test_a_server_that_is_restarted_in_the_middle_is_found_again(self):
        task = self.submit("p")
        running = self.start("--lease", "20s", "--count", "2", "--", "sh", "-c",
                             f"echo in; until [ -e {self.path('go')} ]; do sleep 0.05; done")
        self.assertEqual(running.stdout.readline(), "in\n")
        folder, port = self.server.folder, self.server.port
        self.server.owns_folder = False
        self.server.kill()
        self.server = Tenured(folder=folder, port=port)
        self.server.owns_folder = True
        with open(self.path("go"), "w", encoding="ascii"):
            pass
        self.assertEqual(self.await_state(task, "COMPLETED")["attempt"], 1, "by the same worker")
        second = self.submit("p")
        self.await_state(second, "COMPLETED")
        self.assertEqual(running.wait(tenured.PATIENCE), 0)

    def test_a_worker_that_is_killed_loses_the_task_to_another(self):
        task = self.submit("p")
        running = self.start("--lease", "500ms", "--", "sh", "-c", "echo $$; exec sleep 600")
        pid = running.stdout.readline().strip()
        running.kill()
        until(lambda: is_gone(pid), "the end of its command")
        self.assertEqual(self.work("--count", "1", "--", "true").returncode, 0)
        self.assertEqual(self.get(task)["attempt"], 2)

    # --- a terminal ---

    def test_ctrl_c_finishes_what_is_under_way(self):
        task = self.submit("p")
        terminal = self.terminal("--", "sh", "-c", f"echo in; until [ -e {self.path('go')} ]; do sleep 0.05; done")
        terminal.await_text("in")
        terminal.send("\x03")
        terminal.await_text("finishing")
        with open(self.path("go"), "w", encoding="ascii"):
            pass
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(self.get(task)["state"], "COMPLETED")

    def test_a_second_ctrl_c_stops_the_command_and_the_task_is_tried_again(self):
        task = self.submit("--backoff", "1h", "--backoff-max", "1h", "p")
        terminal = self.terminal("--", "sh", "-c", "echo in; exec sleep 600")
        terminal.await_text("in")
        terminal.send("\x03")
        terminal.await_text("finishing")
        terminal.send("\x03")
        self.assertEqual(terminal.wait(), 0)
        found = self.get(task)
        self.assertEqual((found["state"], found["failures"]), ("WAITING", 1))
        self.assertIn("stopped", found["reason"])

    def test_ctrl_c_while_there_is_nothing_to_do_ends_at_once(self):
        terminal = self.terminal("--name", "idle", "--", "true")
        until(lambda: "idle" in run("top", "--once", server=self.server).stdout)
        terminal.send("\x03")
        self.assertEqual(terminal.wait(), 0)
        self.assertIn("0 completed", terminal.text())


if __name__ == "__main__":
    tenured.main()
