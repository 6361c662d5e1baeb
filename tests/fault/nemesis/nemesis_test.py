"""A real server under load from many client processes, while a nemesis does what it can to all of them; then the histories
are judged.

  nemesis_test.py [--seconds N] [--grants N] [--kills N] [--worlds N] [--seed N]

goes on until all that is asked for is reached; in as many worlds, one after the other, each with its share of grants and kills: in
one alone a server that is killed all the time would soon do nothing but read its journal.

Kills (-9) and stops (SIGSTOP) server and clients, restarts the server, fills its disk (a small one, mounted from a file), cuts,
delays and swallows connections in a proxy, moves the server's wall clock while it runs (wall_clock.cc) and its boot clock
between its lives (a time namespace).
What the machine does not allow (mounting, namespaces) is said, and left out.

Environment: TENURED, the server; WALL_CLOCK, what wall_clock.cc became.

The server's wall clock is not moved forwards while it is down: leases then end early by any clock there is, which
docs/semantics.md says.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
E2E = HERE.parent.parent / "e2e"
sys.path[:0] = [str(HERE), str(E2E)]

import checkers  # noqa: E402
import clients  # noqa: E402
import history  # noqa: E402
import linear  # noqa: E402
from proxy import Proxy  # noqa: E402
from resource import Resource  # noqa: E402
from tenured import Tenured  # noqa: E402

DISK_BYTES = 3 << 30
CLIENTS = {"locks": 4, "tasks": 4, "domains": 3}
PAST_LEASE = 1.7 * clients.LEASE_MS / 1000
WALL_CLOCK = os.environ["WALL_CLOCK"]


class World:
    def __init__(self, folder, dice):
        self.folder = pathlib.Path(folder)
        self.dice = dice
        self.data = self.folder / "disk" / "data"
        self.wall = self.folder / "wall"  # the seconds by which the wall clock is moved
        self.resource = Resource(str(self.folder / "resource"))
        self.proxy = Proxy()
        self.server = None
        self.clients = []
        self.names = 0
        self.done = {}  # what the nemesis did, how often
        self.moves_boot_clock = may(["unshare", "--time", "--fork", "true"], "the boot clock is not moved")

    # --- the server ---
    def start_server(self):
        self.wall.write_text("+0\n")
        boot_clock = ("unshare", "--time", "--fork", "--boottime", str(self.dice.randrange(10_000_000)))
        self.server = Tenured("--segment-bytes", "1mb", "--snapshot-bytes", "4mb", folder=str(self.data), before=(
            *(boot_clock if self.moves_boot_clock else ()), "env", f"LD_PRELOAD={WALL_CLOCK}",
            f"WALL_CLOCK_FILE={self.wall}"))
        self.proxy.target = ("127.0.0.1", self.server.port)

    def signal_server(self, number):
        os.killpg(self.server.process.pid, number)

    def end_server(self, number):
        self.proxy.target = None
        self.signal_server(number)
        self.server.wait()

    # --- the clients ---
    def start_client(self, kind):
        self.names += 1
        name = f"{kind}-{self.names}"
        environment = dict(os.environ, PYTHONPATH=str(E2E))
        process = subprocess.Popen([sys.executable, str(HERE / "clients.py"), kind, name, str(self.proxy.port),
                                    self.resource.path, str(self.folder / f"{name}.history"),
                                    str(self.dice.random())], env=environment, stderr=subprocess.PIPE, text=True)
        self.clients.append((kind, process))

    def end_clients(self):
        for _, process in self.clients:
            process.send_signal(signal.SIGTERM)
        for kind, process in self.clients:
            _, told = process.communicate(timeout=60)
            assert process.returncode in (0, -signal.SIGTERM), f"a client for {kind} failed:\n{told}"

    def operations(self):
        return history.read(self.folder.glob("*.history"))

    # --- what the nemesis can do ---
    def kill_server(self):
        self.end_server(signal.SIGKILL)
        self.start_server()

    def terminate_server(self):
        self.proxy.target = None
        # unshare ignores it while its child lives, and the child is the server.
        self.signal_server(signal.SIGTERM)
        self.server.wait()
        assert "stopped" in self.server.log(), self.server.log()
        self.start_server()

    def stall_server(self):
        self.signal_server(signal.SIGSTOP)
        time.sleep(self.dice.uniform(0.02, PAST_LEASE))
        self.signal_server(signal.SIGCONT)

    def stall_clients(self):
        """Past their leases, some of them between the look at the clock and the write."""
        stalled = self.dice.sample(self.clients, 3)
        for _, process in stalled:
            process.send_signal(signal.SIGSTOP)
        time.sleep(PAST_LEASE)
        for _, process in stalled:
            process.send_signal(signal.SIGCONT)

    def kill_client(self):
        kind, process = self.clients.pop(self.dice.randrange(len(self.clients)))
        process.kill()
        process.communicate()
        self.start_client(kind)

    def cut_connections(self):
        self.proxy.cut()

    def delay_connections(self):
        self.proxy.delay = self.dice.uniform(0.001, 0.1)
        time.sleep(0.3)
        self.proxy.delay = 0.0

    def swallow_connections(self):
        self.proxy.swallows = True
        time.sleep(self.dice.uniform(0.05, PAST_LEASE))
        if self.dice.random() < 0.5:
            self.proxy.cut()
        self.proxy.swallows = False

    def fill_disk(self):
        """Nothing is left for a while; the server may refuse new work, or end: it says so, and loses nothing."""
        ballast = self.data.parent / "ballast"
        room = os.statvfs(self.data)
        with open(ballast, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, room.f_bavail * room.f_frsize))
        time.sleep(self.dice.uniform(0.2, 1.5))
        ballast.unlink()
        if self.server.process.poll() is not None:
            self.proxy.target = None
            assert self.server.wait() != 0, "a server whose journal failed must not end as if all were well"
            self.start_server()

    def move_wall_clock(self):
        self.wall.write_text(f"{self.dice.randrange(-1_000_000, 1_000_000):+}\n")

    DEEDS = (kill_server, terminate_server, stall_server, stall_clients, stall_clients, kill_client, cut_connections,
             delay_connections, swallow_connections, move_wall_clock)

    def strike(self):
        deed = self.dice.choice(self.DEEDS + ((World.fill_disk,) if os.path.ismount(self.data.parent) else ()))
        deed(self)
        self.done[deed.__name__] = self.done.get(deed.__name__, 0) + 1


def may(command, otherwise):
    """Whether this machine lets us do it; if not, that is said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"nemesis: NOT allowed here: {otherwise}: {' '.join(command)}: {done.stderr.strip()}", flush=True)
    return done.returncode == 0


def mount_disk(folder):
    """A disk small enough to be filled."""
    disk, image = f"{folder}/disk", f"{folder}/image"
    os.mkdir(disk)
    with open(image, "wb") as file:
        file.truncate(DISK_BYTES)
    may(["sh", "-c", f"PATH=$PATH:/sbin:/usr/sbin; mkfs.ext4 -q -F {image} && mount -o loop {image} {disk}"],
        "the disk is not filled")


def unmount_disk(folder):
    if os.path.ismount(f"{folder}/disk"):
        subprocess.run(["umount", f"{folder}/disk"], check=True)


def drain(world):
    """Completes whatever is left, once nobody else is there; notes it as the clients did."""
    writer = history.Writer(world.folder / "drain.history", "drain")
    idle_since = time.monotonic()
    with world.server.connect() as client:
        while time.monotonic() < idle_since + 2 * PAST_LEASE:
            begin = history.now()
            queues = [f"q{i}" for i in range(clients.QUEUES)]
            for lease in client.ask("TASK.LEASE", "drain", len(queues), *queues, "COUNT", 100, "BLOCK", 100):
                idle_since = time.monotonic()
                answer = client.ask("TASK.COMPLETE", lease[1], lease[3])
                writer.note("complete", lease[1], begin, end=history.now(), answer=answer, fence=lease[5])


def final_states(world, operations):
    with world.server.connect() as client:
        tasks = {op.name for op in operations if op.kind in ("submit", "lease", "complete")}
        states = {}
        for task in tasks:
            found = client.ask("TASK.GET", task)
            if found is not None:
                states[task] = found[5]
        done = {}
        for domain in {op.name for op in operations if op.kind == "succeed"}:
            intervals = client.ask("WORK.DONE", domain)[1]
            done[domain] = intervals[0][1] if intervals and intervals[0][0] == 0 else -1
    return states, done


def judge(world, operations):
    """The violations, and a line about what was looked at."""
    states, done = final_states(world, operations)
    violations = []
    for kind in ("acquire", "lease", "take"):
        violations += checkers.check_fences(operations, kind)
        violations += checkers.check_exclusion(operations, kind)
    violations += checkers.check_tasks(operations, states)
    violations += checkers.check_domains(operations, done)
    violations += [f"the guarded resource: {violation}" for violation in checkers.check_writes(world.resource.guarded)]
    looked_at = 0
    for name, of_lock in checkers.by_name(op for op in operations if op.kind in ("acquire", "release")).items():
        for piece, holder in linear.pieces(of_lock):
            looked_at += 1
            if not linear.is_linearizable(piece, holder):
                violations.append(f"{name}: no order of these explains their answers, held by {holder} before: {piece}")
    return violations, looked_at


def is_enough(world, arguments, begin):
    if time.monotonic() < begin + arguments.seconds:
        return False
    if world.done.get("kill_server", 0) < arguments.kills:
        return False
    if not world.resource.refused and time.monotonic() < begin + 10 * arguments.seconds:
        return False  # for a while: the guard must have had something to do
    return arguments.grants == 0 or sum(1 for op in world.operations() if op.fence and op.kind in (
        "acquire", "lease", "take")) >= arguments.grants


def run(folder, arguments):
    dice = random.Random(arguments.seed)
    world = World(folder, dice)
    begin = time.monotonic()
    with world.proxy:
        world.start_server()
        try:
            for kind, count in CLIENTS.items():
                for _ in range(count):
                    world.start_client(kind)
            next_look = begin + 5
            while True:
                time.sleep(dice.uniform(0.05, 0.4))
                world.strike()
                if time.monotonic() > next_look:
                    look = time.monotonic()
                    if is_enough(world, arguments, begin):
                        break
                    # Histories grow long: what is read again and again must not be most of what is done.
                    next_look = time.monotonic() + max(5, 10 * (time.monotonic() - look))
            world.end_clients()
            drain(world)
            operations = world.operations()
            world.resource.close()
            violations, pieces = judge(world, operations)
            naive = checkers.check_writes(world.resource.trusting)
        finally:
            for _, process in world.clients:
                process.kill()
            world.server.kill()
    report(world, operations, pieces, naive)
    assert not violations, "\n".join(["violations:", *violations[:20]])
    assert naive, "the nemesis was too gentle: the resource without a guard took no stale write either"
    assert world.resource.refused, "the guard never had to refuse anything"


def report(world, operations, pieces, naive):
    kinds = {}
    for op in operations:
        if op.answer is None or op.fence or op.kind == "submit":
            name = op.kind if op.answer is not None else f"{op.kind} (unknown)"
            kinds[name] = kinds.get(name, 0) + 1
    print(f"nemesis: {world.done}")
    print(f"nemesis: {kinds}; {pieces} pieces searched for an order")
    print(f"nemesis: the guard refused {world.resource.refused} of {len(world.resource.trusting)} writes; without it "
          f"{len(naive)} stale ones were taken", flush=True)


def run_in_new_folder(arguments):
    folder = tempfile.mkdtemp(prefix="tenure-nemesis-")
    try:
        mount_disk(folder)
        run(folder, arguments)
    finally:
        unmount_disk(folder)
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--grants", type=int, default=0)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--worlds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments = parser.parse_args()
    arguments.grants = -(-arguments.grants // arguments.worlds)
    arguments.kills = -(-arguments.kills // arguments.worlds)
    for _ in range(arguments.worlds):
        print(f"nemesis: seed {arguments.seed}", flush=True)
        run_in_new_folder(arguments)
        arguments.seed += 1


if __name__ == "__main__":
    main()
