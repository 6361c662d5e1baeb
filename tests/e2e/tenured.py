"""A real tenured on a free port of this machine, with its data in a folder of its own; and a client that speaks bytes."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import sanitized

PROGRAM = os.environ["TENURED"]
FREE_PORTS = ("--port", "0", "--http-port", "0")
PATIENCE = sanitized.seconds(60)  # for hangs, not for speed


class Tenured:
    """A running server. Ends with the `with` block, however that ends."""

    def __init__(self, *flags, folder=None, before=(), port=0, http_port=0, journal=None):
        """`journal` is a place in etcd, instead of a folder."""
        self.owns_folder = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix="tenure-e2e-")
        self.lines = []
        self.addresses = []
        self.http_addresses = []
        place = ("--journal", journal) if journal else ("--data", self.folder)
        ports = ("--port", str(port), "--http-port", str(http_port))
        self.process = subprocess.Popen([*before, PROGRAM, *place, *ports, *flags],
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                        start_new_session=True, env=sanitized.environment("strace" in before))
        ready = threading.Event()
        self.reader = threading.Thread(target=self._read, args=(ready,), daemon=True)
        self.reader.start()
        if not ready.wait(PATIENCE) or not self.addresses:
            self.kill()
            raise AssertionError("tenured did not start:\n" + "\n".join(self.lines))
        self.port = self.addresses[0][1]
        self.http_port = self.http_addresses[0][1]

    def _read(self, ready):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            found = re.search(r'listening.*protocol\W+(resp|http)\W+address(?:=|":")(\S+):(\d+)', self.lines[-1])
            if found:
                addresses = self.addresses if found[1] == "resp" else self.http_addresses
                addresses.append((found[2].strip("[]"), int(found[3])))
            if "try: redis-cli" in line:
                ready.set()
        ready.set()

    def log(self):
        return "\n".join(self.lines)

    def await_log(self, text):
        """Until the log has it: its lines come after what they tell."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.log():
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.01)

    def connect(self, **options):
        return Client(self.port, **options)

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout=PATIENCE):
        """Its exit status."""
        status = self.process.wait(timeout)
        self.reader.join(PATIENCE)
        self.process.stderr.close()
        return status

    def stop(self):
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        """Also what stands between: `before` would leave the server behind."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return self.wait()

    def memory_peak(self):
        """Bytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1]) * 1024

    def forget_memory_peak(self):
        """From now on the peak is that of what follows: the hash of a password takes more than most."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w", encoding="ascii") as peak:
            peak.write("5")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        if self.owns_folder:
            shutil.rmtree(self.folder, ignore_errors=True)


class Failed(Exception):
    """An error reply."""


class Client:
    """One connection. Replies: str for simple and bulk strings, int, None, list, dict; errors are raised."""

    def __init__(self, port, host="127.0.0.1", timeout=PATIENCE, receive_buffer=None, tls=None):
        """`tls` is an ssl.SSLContext."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.socket(family)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect((host, port))
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname=host)
        self.input = b""

    def send(self, data):
        self.socket.sendall(data)

    def put(self, *words):
        """Sends a request and leaves its reply for later."""
        self.send(request(*words))

    def ask(self, *words):
        self.put(*words)
        return self.reply()

    def reply(self):
        line = self._line()
        kind, rest = line[:1], line[1:].decode()
        if kind == b"+":
            return rest
        if kind == b"-":
            raise Failed(rest)
        if kind == b":":
            return int(rest)
        if kind == b"_":
            return None
        if kind == b"$":
            return None if rest == "-1" else self._take(int(rest) + 2)[:-2].decode("utf-8", "surrogateescape")
        if kind == b"*":
            return None if rest == "-1" else [self.reply() for _ in range(int(rest))]
        if kind == b"%":
            return {self.reply(): self.reply() for _ in range(int(rest))}
        raise AssertionError(f"no reply begins with {line!r}")

    def is_closed_by_server(self):
        """Reads until the end: True once it is there."""
        try:
            while self.socket.recv(1 << 20):
                pass
        except ConnectionError:
            pass
        return True

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _line(self):
        while b"\r\n" not in self.input:
            self._more()
        line, self.input = self.input.split(b"\r\n", 1)
        return line

    def _take(self, count):
        while len(self.input) < count:
            self._more()
        taken, self.input = self.input[:count], self.input[count:]
        return taken

    def _more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError("the server closed the connection")
        self.input += data


def request(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def in_thread(work):
    """Runs work(); the result comes from calling what is returned."""
    result = []

    def run():
        try:
            result.append((work(), None))
        except BaseException as error:  # noqa: it is raised again by whoever asks
            result.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def get():
        thread.join(PATIENCE)
        if not result:
            raise AssertionError("it hangs")
        value, error = result[0]
        if error:
            raise error
        return value

    return get


def main():
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[1:]])
