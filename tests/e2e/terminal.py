"""The tenure program, run as people and scripts do: with pipes, or in a terminal of its own."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time

import tenured

TENURE = os.environ["TENURE"]


def environment(server=None, **more):
    """Of a user who has set nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TENURE", "XDG_"))}
    kept.update(HOME="/nonexistent", TERM="xterm", **more)
    if server:
        kept["TENURE_SERVER"] = f"127.0.0.1:{server.port}"
    return kept


def run(*words, server=None, stdin=None, **more):
    """Its output, errors and exit status."""
    given = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run([TENURE, *words], capture_output=True, text=True, timeout=tenured.PATIENCE,
                          env=environment(server, **more), **given)


def ask(*words, server=None, **more):
    """What it answers with --json; fails if it fails."""
    done = run(*words, "--json", server=server, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def until(holds, what="it"):
    """Waits until holds() is true; its value."""
    deadline = time.monotonic() + tenured.PATIENCE
    while True:
        value = holds()
        if value:
            return value
        assert time.monotonic() < deadline, f"{what}: not in time"
        time.sleep(0.01)


def is_gone(pid):
    """The process has ended; one that nobody has waited for yet counts as ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


class Terminal:
    """A program with a terminal that is its own. Ends with the `with` block, however that ends."""

    def __init__(self, *words, server=None, rows=24, columns=80, **more):
        variables = environment(server, **more)
        self.screen = b""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execve(words[0], words, variables)
        self.resize(rows, columns)
        self.status = None
        self.lock = threading.Lock()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while True:
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:
                return
            if not data:
                return
            with self.lock:
                self.screen += data

    def text(self):
        with self.lock:
            return self.screen.decode("utf-8", "replace")

    def forget(self):
        """What was written until now does not count."""
        with self.lock:
            self.screen = b""

    def await_text(self, text):
        return self.await_match(re.escape(text))

    def await_match(self, pattern):
        deadline = time.monotonic() + tenured.PATIENCE
        while not re.search(pattern, self.text(), re.DOTALL):
            assert time.monotonic() < deadline, f"{pattern!r} is not in {self.text()!r}"
            time.sleep(0.01)

    def send(self, keys):
        os.write(self.master, keys.encode())

    def resize(self, rows, columns):
        """The kernel tells the foreground with SIGWINCH."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self):
        """The terminal's flags: (echo, canonical)."""
        flags = termios.tcgetattr(self.master)[3]
        return bool(flags & termios.ECHO), bool(flags & termios.ICANON)

    def wait(self):
        """Its exit status; 128 and the signal, if one ended it."""
        if self.status is None:
            self.status = self._await_end()
        return self.status

    def _await_end(self):
        deadline = time.monotonic() + tenured.PATIENCE
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            assert time.monotonic() < deadline, f"it does not end: {self.text()!r}"
            time.sleep(0.01)
        self.reader.join(tenured.PATIENCE)
        return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)

    def signal(self, number):
        os.kill(self.pid, number)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                self.status = self._await_end()
            except (ProcessLookupError, ChildProcessError):
                pass
        os.close(self.master)
