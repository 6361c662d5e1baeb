"""Real etcd members and real tenured nodes on this machine, and clients that find whoever leads."""

import json
import os
import pathlib
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "e2e"), str(TESTS / "fault" / "nemesis")]

from proxy import Proxy  # noqa: E402
from tenured import PATIENCE, Client, Failed, Tenured  # noqa: E402

# What an answer may be that says nothing about the state: ask again, perhaps somebody else.
NO_ANSWER = ("UNAVAILABLE", "MOVED")


def free_ports(count):
    """Ports that nobody has now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def await_true(what, condition, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, f"not within {patience} s: {what}"
        time.sleep(0.02)


class Etcd:
    """Three members, with their data in a temporary folder, in `within` if that is given. They end with the `with` block."""

    def __init__(self, size=3, within=None):
        self.folder = tempfile.mkdtemp(prefix="tenure-etcd-", dir=within)
        self.client_ports = free_ports(size * 2)
        self.peer_ports = self.client_ports[size:]
        self.client_ports = self.client_ports[:size]
        self.processes = [None] * size

    def __enter__(self):
        try:
            self.start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for member in range(len(self.processes)):
            self.kill(member)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, member):
        peers = ",".join(f"m{i}=http://127.0.0.1:{port}" for i, port in enumerate(self.peer_ports))
        client = f"http://127.0.0.1:{self.client_ports[member]}"
        peer = f"http://127.0.0.1:{self.peer_ports[member]}"
        environment = dict(os.environ)
        if platform.machine() == "aarch64":
            environment["ETCD_UNSUPPORTED_ARCH"] = "arm64"
        with open(f"{self.folder}/m{member}.log", "ab") as log:
            self.processes[member] = subprocess.Popen(
                ["etcd", "--name", f"m{member}", "--data-dir", f"{self.folder}/m{member}", "--listen-client-urls", client,
                 "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", peers, "--initial-cluster-state", "new", "--logger", "zap"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True)

    def start_all(self):
        for member, process in enumerate(self.processes):
            if process is None:
                self.start(member)
        for member in range(len(self.processes)):
            await_true(f"etcd member {member} is healthy; its log is {self.log_of(member)[-2000:]}",
                       lambda member=member: self.is_healthy(member))

    def is_healthy(self, member):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.client_ports[member]}/health", timeout=2) as reply:
                return json.load(reply).get("health") == "true"
        except OSError:
            return False

    def addresses(self):
        return [f"127.0.0.1:{port}" for port in self.client_ports]

    def leader(self):
        """The address of the member that leads the others."""
        for address in self.addresses():
            with urllib.request.urlopen(f"http://{address}/v3/maintenance/status", data=b"{}", timeout=2) as reply:
                status = json.load(reply)
            if status["leader"] == status["header"]["member_id"]:
                return address
        raise AssertionError("no member of etcd leads")

    def log_of(self, member):
        return pathlib.Path(f"{self.folder}/m{member}.log").read_text(encoding="utf-8", errors="replace")

    def kill(self, member):
        if self.processes[member] is None:
            return
        self.processes[member].kill()
        self.processes[member].wait()
        self.processes[member] = None


class Node:
    """One tenured, which reaches each member of etcd through a proxy of its own; or directly, and is never cut off."""

    def __init__(self, etcd, flags, is_direct=False):
        self.port, self.http_port = free_ports(2)
        self.flags = flags
        self.proxies = [] if is_direct else [Proxy() for _ in etcd.client_ports]
        for proxy, port in zip(self.proxies, etcd.client_ports):
            proxy.target = ("127.0.0.1", port)
            proxy.__enter__()
        self.members = etcd.addresses() if is_direct else [f"127.0.0.1:{proxy.port}" for proxy in self.proxies]
        self.server = None

    def start(self):
        self.server = Tenured(*self.flags, port=self.port, http_port=self.http_port,
                              journal=f"etcd://{','.join(self.members)}/tenure")

    def kill(self):
        if self.server:
            self.server.kill()
            shutil.rmtree(self.server.folder, ignore_errors=True)
        self.server = None

    def close(self):
        self.kill()
        for proxy in self.proxies:
            proxy.__exit__()

    def cut_off(self, is_cut_off):
        """From etcd: what is sent is swallowed."""
        for proxy in self.proxies:
            proxy.swallows = is_cut_off
            if not is_cut_off:
                proxy.cut()

    def status(self):
        """What it tells of the cluster; None: it tells nothing."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}/v1/status", timeout=1) as reply:
                return json.load(reply)
        except OSError:
            return None

    def is_leading(self):
        status = self.status()
        return status is not None and status["cluster"]["node_role"] == "leader"

    def readiness(self):
        """The HTTP status of /readyz, and its body."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}/readyz", timeout=5) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


class Cluster:
    """Nodes on an etcd. They end with the `with` block."""

    def __init__(self, etcd, size=3, flags=(), is_direct=False):
        self.nodes = [Node(etcd, flags, is_direct) for _ in range(size)]

    def __enter__(self):
        for node in self.nodes:
            node.start()
        self.await_leader()
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.close()

    def ports(self):
        return [node.port for node in self.nodes]

    def leader(self):
        return next((node for node in self.nodes if node.server and node.is_leading()), None)

    def await_leader(self):
        await_true("somebody leads", lambda: self.leader() is not None)
        return self.leader()

    def await_all(self):
        """Until every node is ready, and one leads."""
        await_true("all are ready: " + repr([node.readiness() for node in self.nodes if node.server]),
                   lambda: all(node.readiness()[0] == 200 for node in self.nodes))
        return self.await_leader()


class Seeker:
    """A client that asks until it is answered: follows to whoever leads, and repeats, also what may have been done; so what
    changes something has a request id. One thread."""

    def __init__(self, ports, timeout=2.0, patience=PATIENCE):
        self.ports = list(ports)
        self.timeout = timeout
        self.patience = patience
        self.at = 0
        self.port = self.ports[0]
        self.client = None

    def ask(self, *words, wait=0.0):
        """`wait` are the seconds that the request itself may take."""
        deadline = time.monotonic() + self.patience + wait
        trouble = None
        while time.monotonic() < deadline:
            try:
                return self.ask_once(*words, wait=wait)
            except NoAnswer as error:
                trouble = error
                time.sleep(0.02)
        raise AssertionError(f"nobody answers {words[:3]}: {trouble}")

    def ask_once(self, *words, wait=0.0):
        try:
            if self.client is None:
                self.client = Client(self.port, timeout=self.timeout)
            self.client.socket.settimeout(self.timeout + wait)
            return self.client.ask(*words)
        except Failed as error:
            if not str(error).startswith(NO_ANSWER):
                raise
            self.close()
            if str(error).startswith("MOVED"):
                self.port = int(str(error).rsplit(":", 1)[1])
            else:
                self.move_on()
            raise NoAnswer(str(error)) from error
        except (OSError, EOFError) as error:
            self.close()
            self.move_on()
            raise NoAnswer(repr(error)) from error

    def move_on(self):
        self.at = (self.at + 1) % len(self.ports)
        self.port = self.ports[self.at]

    def close(self):
        if self.client:
            self.client.close()
        self.client = None


class NoAnswer(Exception):
    """Nobody has said what is so."""


class Crew:
    """Threads that do something again and again until they are told to stop; the first error of one is raised then."""

    def __init__(self):
        self.stopping = threading.Event()
        self.threads = []
        self.errors = []

    def add(self, work):
        def run():
            try:
                while not self.stopping.is_set():
                    work()
            except BaseException as error:  # noqa: raised again by `stop`
                self.errors.append(error)
                self.stopping.set()

        self.threads.append(threading.Thread(target=run, daemon=True))
        self.threads[-1].start()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(2 * PATIENCE)
            assert not thread.is_alive(), "a client hangs"
        if self.errors:
            raise self.errors[0]


def pause(node):
    node.server.signal(signal.SIGSTOP)


def resume(node):
    node.server.signal(signal.SIGCONT)
