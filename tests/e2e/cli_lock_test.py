"""`tenure lock` as scripts and people at a terminal use it: Ctrl-C, Ctrl-Z, a lost lock, a server restarted."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import tenured
from tenured import Tenured
from terminal import TENURE, Terminal, ask, environment, is_gone, run, until

LOST, NOT_NOW, NOT_RUNNABLE, NO_COMMAND = 70, 75, 126, 127


class Locking(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tenure-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.server = Tenured()
        self.addCleanup(lambda: self.server.__exit__())

    def lock(self, *words, **more):
        return run("lock", "orders", "17", *words, server=self.server, **more)

    def start(self, *words):
        """Without a terminal; its output is what its command writes."""
        process = subprocess.Popen([TENURE, "lock", "orders", "17", *words], stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(self.server))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def terminal(self, *words, **more):
        terminal = Terminal(*words, server=self.server, **more)
        self.addCleanup(terminal.__exit__)
        return terminal

    def held(self):
        return ask("locks", server=self.server)["locks"]

    # --- scripts ---

    def test_the_command_has_the_fence_and_its_words_and_status_are_passed_on(self):
        done = self.lock("--", "sh", "-c", 'echo "$TENURE_FENCE $TENURE_LOCK_DOMAIN $TENURE_LOCK" "$@"; exit 7', "sh",
                         "[a,b]", "--server", "")
        self.assertEqual((done.stdout, done.returncode, done.stderr), ("1 orders 17 [a,b] --server \n", 7, ""))
        self.assertEqual(self.held(), [])
        self.assertEqual(self.lock("--", "sh", "-c", "kill -9 $$").returncode, 128 + 9)

    def test_a_command_that_cannot_be_run_frees_the_lock(self):
        self.assertEqual(self.lock("--", "no-such-command").returncode, NO_COMMAND)
        self.assertEqual(self.lock("--", self.folder).returncode, NOT_RUNNABLE)
        self.assertEqual(self.held(), [])

    def test_it_reads_standard_input(self):
        self.assertEqual(self.lock("--", "cat", stdin="through").stdout, "through")

    def test_a_lock_of_another_is_not_now(self):
        with self.server.connect() as client:
            client.ask("LOCK.ACQUIRE", "orders", "17", "somebody")
            done = self.lock("--wait", "0s", "--", "echo", "in")
            self.assertEqual((done.returncode, done.stdout), (NOT_NOW, ""))
            self.assertIn("somebody", done.stderr)
            self.assertIn("force-unlock orders 17", done.stderr)
            self.assertEqual(self.lock("--wait", "50ms", "--", "echo", "in").returncode, NOT_NOW)

    def test_it_waits_for_its_turn(self):
        with self.server.connect() as client:
            token = client.ask("LOCK.ACQUIRE", "orders", "17", "somebody")[0]
            waiting = self.start("--", "echo", "in")
            until(lambda: self.held()[0]["waiters"] == 1)
            client.ask("LOCK.RELEASE", "orders", "17", token)
            self.assertEqual(waiting.communicate(timeout=tenured.PATIENCE)[0], "in\n")
            self.assertEqual(waiting.returncode, 0)

    def test_who_gives_up_waiting_leaves_the_line(self):
        with self.server.connect() as client:
            client.ask("LOCK.ACQUIRE", "orders", "17", "somebody")
            waiting = self.start("--", "echo", "in")
            until(lambda: self.held()[0]["waiters"] == 1)
            waiting.send_signal(signal.SIGINT)
            self.assertEqual(waiting.wait(tenured.PATIENCE), 128 + signal.SIGINT)
            until(lambda: self.held()[0]["waiters"] == 0)

    def test_who_gives_up_while_nobody_answers_need_not_wait(self):
        with socket.create_server(("127.0.0.1", 0)) as mute:
            address = "127.0.0.1:%d" % mute.getsockname()[1]
            waiting = subprocess.Popen([TENURE, "lock", "--server", address, "--timeout", "600s", "a", "b", "--", "true"])
            with mute.accept()[0] as talk:
                talk.recv(1)  # it has asked
                waiting.send_signal(signal.SIGINT)
                self.assertEqual(waiting.wait(tenured.PATIENCE), 128 + signal.SIGINT)

    def test_a_lease_is_renewed_as_long_as_the_command_runs(self):
        running = self.start("--lease", "2s", "--", "sh", "-c", "echo in; sleep 4")
        self.assertEqual(running.stdout.readline(), "in\n")
        fence = self.held()[0]["fence"]
        self.assertEqual(running.wait(tenured.PATIENCE), 0, "it was held for longer than its lease")
        with self.server.connect() as client:
            self.assertEqual(client.ask("LOCK.ACQUIRE", "orders", "17", "next")[1], fence + 1)

    def test_a_lost_lock_stops_the_command_and_all_it_has_started(self):
        running = self.start("--lease", "3s", "--", "sh", "-c", "sleep 600 & echo $! $$; wait")
        pids = running.stdout.readline().split()
        run("force-unlock", "orders", "17", server=self.server)
        self.assertEqual(running.wait(tenured.PATIENCE), LOST)
        self.assertIn("lost", running.stderr.read())
        for pid in pids:
            until(lambda pid=pid: is_gone(pid), f"the end of {pid}")

    def test_a_command_that_ignores_being_asked_is_killed_after_the_grace(self):
        running = self.start("--lease", "3s", "--grace", "1s", "--", "sh", "-c",
                             "trap 'echo asked' TERM; echo in; while :; do sleep 0.05; done")
        self.assertEqual(running.stdout.readline(), "in\n")
        run("force-unlock", "orders", "17", server=self.server)
        self.assertEqual(running.wait(tenured.PATIENCE), LOST)
        self.assertEqual(running.stdout.read(), "asked\n")
        self.assertIn("signal 9", running.stderr.read())

    def test_a_signal_is_passed_on_to_the_command(self):
        running = self.start("--", "sh", "-c", "trap 'exit 5' TERM; echo in; while :; do sleep 0.05; done")
        self.assertEqual(running.stdout.readline(), "in\n")
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(tenured.PATIENCE), 5)
        self.assertEqual(self.held(), [])

    def test_a_command_dies_with_whoever_holds_its_lock(self):
        running = self.start("--", "sh", "-c", "echo $$; exec sleep 600")
        pid = running.stdout.readline().strip()
        running.kill()
        until(lambda: is_gone(pid))

    def restart(self):
        folder, port = self.server.folder, self.server.port
        self.server.owns_folder = False
        self.server.kill()
        self.server = Tenured(folder=folder, port=port)
        self.server.owns_folder = True

    def test_a_server_that_is_restarted_in_the_middle_is_found_again(self):
        go = os.path.join(self.folder, "go")
        running = self.start("--lease", "20s", "--", "sh", "-c", f"echo in; until [ -e {go} ]; do sleep 0.05; done")
        self.assertEqual(running.stdout.readline(), "in\n")
        fence = self.held()[0]["fence"]
        self.restart()
        self.assertEqual(self.held()[0]["fence"], fence, "it is still held")
        with open(go, "w", encoding="ascii"):
            pass
        self.assertEqual(running.wait(tenured.PATIENCE), 0, "and was released in the end")
        self.assertEqual(self.held(), [])

    def test_a_server_that_stays_away_costs_the_lock_at_the_holders_own_deadline(self):
        running = self.start("--lease", "1s", "--", "sh", "-c", "echo in; exec sleep 600")
        self.assertEqual(running.stdout.readline(), "in\n")
        self.server.kill()
        self.assertEqual(running.wait(tenured.PATIENCE), LOST)

    def test_it_works_on_a_folder_without_a_server(self):
        folder = os.path.join(self.folder, "data")
        done = run("lock", "d", "i", "--embedded", folder, "--", "sh", "-c", "echo $TENURE_FENCE")
        self.assertEqual((done.stdout, done.returncode), ("1\n", 0), done.stderr)

    # --- a terminal ---

    def test_ctrl_c_ends_the_command_and_frees_the_lock(self):
        terminal = self.terminal(TENURE, "lock", "orders", "17", "--", "sh", "-c", "echo in; exec sleep 600")
        terminal.await_text("in")
        terminal.send("\x03")
        self.assertEqual(terminal.wait(), 128 + signal.SIGINT)
        self.assertEqual(self.held(), [])

    def test_ctrl_c_that_the_command_handles_does_not_end_it(self):
        terminal = self.terminal(TENURE, "lock", "orders", "17", "--", "sh", "-c",
                                 "trap 'echo caught; exit 3' INT; echo in; while :; do sleep 0.05; done")
        terminal.await_text("in")
        terminal.send("\x03")
        self.assertEqual(terminal.wait(), 3)
        self.assertIn("caught", terminal.text())

    def test_ctrl_c_while_it_waits_gives_up(self):
        with self.server.connect() as client:
            client.ask("LOCK.ACQUIRE", "orders", "17", "somebody")
            terminal = self.terminal(TENURE, "lock", "orders", "17", "--", "echo", "in")
            until(lambda: self.held()[0]["waiters"] == 1)
            terminal.send("\x03")
            self.assertEqual(terminal.wait(), 128 + signal.SIGINT)

    def test_the_command_has_the_terminal(self):
        terminal = self.terminal(TENURE, "lock", "orders", "17", "--", "sh", "-c",
                                 'test -t 0 && echo "size $(stty size)"; read word; echo "got $word"; stty size')
        terminal.await_text("size 24 80")
        terminal.resize(40, 120)
        terminal.send("hello\n")
        terminal.await_text("got hello")
        terminal.await_text("40 120")
        self.assertEqual(terminal.wait(), 0)

    def test_a_lost_lock_gives_the_terminal_back(self):
        shell = self.terminal("/bin/bash", "--norc", "-i", PS1="$ ")
        shell.send(f"{TENURE} lock orders 17 --lease 3s -- sh -c 'echo i\"\"n; exec sleep 600'; echo status=$?\n")
        shell.await_text("in\r\n")
        run("force-unlock", "orders", "17", server=self.server)
        shell.await_text(f"status={LOST}")
        shell.send("echo still he''re\n")
        shell.await_text("still here")

    def test_ctrl_z_stops_both_and_fg_continues_both(self):
        shell = self.terminal("/bin/bash", "--norc", "-i", PS1="$ ")
        shell.send(f"{TENURE} lock orders 17 -- sh -c 'echo i\"\"n; read word; echo got=$word'\n")
        shell.await_text("in\r\n")
        shell.send("\x1a")
        shell.await_text("Stopped")
        shell.send("echo at the sh''ell\n")
        shell.await_text("at the shell")
        self.assertEqual(len(self.held()), 1)
        shell.send("fg\n")
        shell.send("back\n")
        shell.await_text("got=back")
        until(lambda: self.held() == [])

    def test_ctrl_c_reaches_a_command_whose_input_is_no_terminal(self):
        shell = self.terminal("/bin/bash", "--norc", "-i", PS1="$ ")
        shell.send(f"{TENURE} lock orders 17 -- sh -c 'echo i\"\"n; exec sleep 600' < /dev/null\n")
        shell.await_text("in\r\n")
        shell.send("\x03")
        until(lambda: self.held() == [])
        shell.send("echo status=$?\n")
        shell.await_text("status=130")

    def test_a_pipeline_keeps_its_terminal(self):
        shell = self.terminal("/bin/bash", "--norc", "-i", PS1="$ ")
        shell.send(f"{TENURE} lock orders 17 -- sh -c 'read word; echo got=$word' | cat; "
                   "echo status=${PIPESTATUS[0]}\n")
        until(lambda: len(self.held()) == 1)
        shell.send("hello\n")
        shell.await_text("got=hello")
        shell.await_text("status=0")


if __name__ == "__main__":
    tenured.main()
