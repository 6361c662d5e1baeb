"""`tenure top` and `tenure bench` in a terminal: keys, resize, a server that goes away and comes back."""

import re
import signal
import unittest

import tenured
from tenured import Tenured
from terminal import TENURE, Terminal, run, until

SECOND_SCREEN, FIRST_SCREEN = "\x1b[?1049h", "\x1b[?1049l"


class Watching(unittest.TestCase):
    def setUp(self):
        self.server = Tenured()
        self.addCleanup(lambda: self.server.__exit__())
        with self.server.connect() as client:
            client.ask("TASK.SUBMIT", "mail", "p")
            client.ask("LOCK.ACQUIRE", "orders", "17", "somebody")
            client.ask("TASK.LEASE", "worker-1", 1, "none")

    def top(self, **more):
        terminal = Terminal(TENURE, "top", "--interval", "50ms", server=self.server, **more)
        self.addCleanup(terminal.__exit__)
        terminal.await_text("q quits")
        terminal.await_text("mail")
        return terminal

    def last_frame(self, terminal):
        """The rows of the last whole view."""
        for frame in reversed(terminal.text().split("\x1b[H")):
            if "\x1b[J" in frame:
                return re.sub("\x1b\\[[0-9;]*[mK]", "", frame.split("\x1b[J")[0]).split("\r\n")
        return []

    def test_it_shows_queues_workers_and_locks_and_q_quits(self):
        terminal = self.top()
        self.assertIn(SECOND_SCREEN, terminal.text())
        self.assertEqual(terminal.modes(), (False, False))
        for words in ("mail", "worker-1", "orders::17", "somebody", f":{self.server.port}"):
            terminal.await_text(words)
        terminal.send("x")
        terminal.send("q")
        self.assertEqual(terminal.wait(), 0)
        self.assertIn(FIRST_SCREEN, terminal.text())
        self.assertEqual(terminal.modes(), (True, True))

    def test_ctrl_c_and_signals_give_the_terminal_back(self):
        for end, status in ((lambda one: one.send("\x03"), 0), (lambda one: one.signal(signal.SIGTERM), 128 + 15)):
            terminal = self.top()
            end(terminal)
            self.assertEqual(terminal.wait(), status)
            self.assertIn(FIRST_SCREEN, terminal.text())
            self.assertEqual(terminal.modes(), (True, True))

    def test_it_follows_the_size_of_the_terminal(self):
        terminal = self.top(rows=24, columns=80)
        for rows, columns in ((8, 30), (50, 160), (1, 1), (24, 80)):
            terminal.forget()
            terminal.resize(rows, columns)
            until(lambda: self.last_frame(terminal))
            terminal.forget()
            frame = until(lambda: self.last_frame(terminal))
            self.assertLessEqual(len(frame), rows)
            for line in frame:
                self.assertLessEqual(len(line), columns, repr(line))

    def test_it_is_drawn_anew_at_once_when_the_size_changes(self):
        terminal = Terminal(TENURE, "top", "--interval", "1h", server=self.server)
        self.addCleanup(terminal.__exit__)
        terminal.await_text("mail")
        terminal.forget()
        terminal.resize(10, 40)
        until(lambda: self.last_frame(terminal))

    def test_a_server_that_goes_away_is_told_and_found_again(self):
        terminal = self.top()
        folder, port = self.server.folder, self.server.port
        self.server.owns_folder = False
        self.server.kill()
        terminal.await_text("NO ANSWER")
        self.server = Tenured(folder=folder, port=port)
        self.server.owns_folder = True
        until(lambda: (terminal.forget(), until(lambda: self.last_frame(terminal)))[1]
              and "NO ANSWER" not in terminal.text())
        terminal.send("q")
        self.assertEqual(terminal.wait(), 0)

    def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(self):
        shell = Terminal("/bin/bash", "--norc", "-i", server=self.server, PS1="$ ")
        self.addCleanup(shell.__exit__)
        shell.send(f"{TENURE} top --interval 50ms; echo status=$?\n")
        shell.await_text("mail")
        shell.send("\x1a")
        shell.await_text("Stopped")
        self.assertIn(FIRST_SCREEN, shell.text())
        shell.forget()
        shell.send("fg\n")
        shell.await_text(SECOND_SCREEN)
        shell.await_text("mail")
        shell.send("q")
        shell.await_text("$ ")

    def test_without_a_terminal_it_is_printed_once(self):
        done = run("top", server=self.server)
        self.assertEqual(done.returncode, 0)
        self.assertIn("orders::17", done.stdout)
        self.assertNotIn("\x1b", done.stdout)

    def test_a_load_shows_how_far_it_is_and_ends_early_at_ctrl_c(self):
        terminal = Terminal(TENURE, "bench", "--for", "1h", "--threads", "2", server=self.server)
        self.addCleanup(terminal.__exit__)
        terminal.await_text("[....")
        terminal.await_text("answers")
        terminal.send("\x03")
        self.assertEqual(terminal.wait(), 0)
        self.assertIn("latency", terminal.text())


if __name__ == "__main__":
    tenured.main()
