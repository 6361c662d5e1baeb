#!/usr/bin/env python3
"""Makes the Debian package and lives with it in a clean Debian 12: installs, starts, serves, stops, removes, purges it.

No systemd runs in a chroot. So the server is started with the command, the user and the environment that the unit names;
the unit itself is verified by systemd-analyze, and the system calls of the running server are held against its filter.
Needs root, and Debian's packages: without them it fails.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE = 60
VERSION = re.search(r'kVersion = "(.*?)"', (ROOT / "include/tenure/version.h").read_text())[1]

scratch = pathlib.Path(tempfile.mkdtemp(prefix="tenure-package-"))
unittest.addModuleCleanup(shutil.rmtree, scratch)
root = scratch / "root"
package = scratch / "package"


def run(*command, **options):
    """What it prints; fails with that if its status is not 0."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def inside(*command, **more):
    """Runs it in the clean root."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8",
                   "HOME": "/root", **more}
    return run("chroot", root, *command, env=environment)


def setUpModule():
    assert os.geteuid() == 0, "package_test: needs root, to make a root of its own"
    run(os.environ["CPACK"], "-G", "DEB", "-B", package, "--config", f"{os.environ['BUILD']}/CPackConfig.cmake")
    print("package_test: fetching a clean Debian 12", file=sys.stderr, flush=True)
    # systemd is there, but does not run: its units are what the package's own one is verified with.
    run("mmdebstrap", "--quiet", "--variant=minbase", "--include=systemd,procps", "--dpkgopt=force-unsafe-io", "bookworm",
        root)


def deb():
    found, = package.glob("*.deb")
    return found


class Unit:
    """What tenured.service says."""

    def __init__(self):
        text = (root / "lib/systemd/system/tenured.service").read_text()
        self.settings = re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE)

    def all(self, name):
        return [value for key, value in self.settings if key == name]

    def one(self, name):
        value, = self.all(name)
        return value

    def calls_allowed(self):
        """Names of system calls, as the filter's lines say in their order."""
        allowed = set()
        for line in self.all("SystemCallFilter"):
            calls = {call for word in line.lstrip("~").split() for call in calls_of(word)}
            allowed = allowed - calls if line.startswith("~") else allowed | calls
        return allowed | calls_of("@default")


def calls_of(group):
    """The system calls of a group of systemd's, groups in it included."""
    found = set()
    for line in run("systemd-analyze", "syscall-filter", group, "--no-pager").splitlines():
        word = line.strip()
        if line.startswith(" ") and not word.startswith("#"):
            found |= calls_of(word) if word.startswith("@") else {word}
    return found


class Service:
    """The server as the unit starts it, on free ports. `watch`: a file for its system calls."""

    def __init__(self, watch=None):
        unit = Unit()
        # The file that the unit names says nothing of ports: the environment may.
        variables = [*unit.all("Environment"), "TENURE_PORT=0", "TENURE_HTTP_PORT=0"]
        before = ["strace", "-f", "-qq", "-o", str(watch)] if watch else []
        self.log = scratch / "log"
        with open(self.log, "w", encoding="ascii") as log:
            self.process = subprocess.Popen(
                [*before, "chroot", f"--userspec={unit.one('User')}:{unit.one('Group')}", root, "env", "-i", *variables,
                 *unit.one("ExecStart").split()], stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + PATIENCE
        while "try: redis-cli" not in self.log.read_text():
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)
        self.port = re.search(r"protocol=resp address=127\.0\.0\.1:(\d+)", self.log.read_text())[1]

    def ask(self, *words):
        return inside("tenure", *words, TENURE_SERVER=f"127.0.0.1:{self.port}")

    def pid(self):
        """The server's own, which strace stands before."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0]) if children else self.process.pid

    def stop(self):
        """Its exit status."""
        os.kill(self.pid(), signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(PATIENCE)


class Package(unittest.TestCase):
    """Its life, in the order of the names."""

    maxDiff = None

    def exists(self, path):
        return os.path.lexists(root / path)

    def owner(self, path):
        return inside("stat", "-c", "%U:%G %a", "/" + path).strip()

    def test_1_says_what_it_is_and_needs(self):
        fields = run("dpkg-deb", "--field", deb())
        self.assertIn("\nPackage: tenure\n", fields)
        self.assertIn(f"\nVersion: {VERSION}\n", fields)
        for needed in ("libc6", "libssl3", "libsodium23", "libjemalloc2", "adduser"):
            self.assertRegex(fields, rf"(?m)^Depends:.*\b{re.escape(needed)}\b")
        listing = run("dpkg-deb", "--contents", deb())
        for path in ("./usr/bin/tenured", "./usr/bin/tenure", f"./usr/lib/libtenure.so.{VERSION}",
                     "./usr/include/tenure/client.h", "./usr/lib/pkgconfig/tenure.pc",
                     "./usr/lib/cmake/tenure/tenure-config.cmake", "./etc/tenure/tenured.conf",
                     "./lib/systemd/system/tenured.service", "./usr/share/man/man1/tenure.1.gz",
                     "./usr/share/man/man8/tenured.8.gz", "./usr/share/bash-completion/completions/tenure",
                     "./usr/share/zsh/vendor-completions/_tenure", "./usr/share/fish/vendor_completions.d/tenure.fish",
                     "./usr/share/doc/tenure/README.md"):
            self.assertRegex(listing, rf"(?m)^-rw.r-.r-. root/root .* {re.escape(path)}$")
        self.assertEqual([], [line for line in listing.splitlines() if " root/root " not in line])

    def test_2_is_installed_with_what_it_needs(self):
        shutil.copy(deb(), root / "tmp/tenure.deb")
        inside("apt-get", "-q", "update")
        inside("apt-get", "-q", "-y", "--no-install-recommends", "install", "/tmp/tenure.deb")
        self.assertEqual(f"tenured {VERSION}\n", inside("tenured", "--version"))
        self.assertIn("libtenure.so", inside("ldconfig", "-p"))
        self.assertEqual("tenure:tenure 700", self.owner("var/lib/tenure"))
        self.assertEqual("root:root 644", self.owner("etc/tenure/tenured.conf"))
        self.assertIn("nologin", inside("getent", "passwd", "tenure"))
        self.assertTrue(self.exists("etc/systemd/system/multi-user.target.wants/tenured.service"), "it is enabled")
        self.assertEqual("", inside("dpkg", "--verify", "tenure"))

    def test_3_the_unit_is_well_formed_and_tight(self):
        unit = "/lib/systemd/system/tenured.service"
        said = run("systemd-analyze", "verify", "--man=no", f"--root={root}", unit)
        self.assertNotIn("tenured.service", said)
        # In tenths; 100 is a service that nothing holds back.
        said = run("systemd-analyze", "security", "--no-pager", "--offline=yes", "--threshold=20", f"--root={root}",
                   unit)
        self.assertIn("Overall exposure level", said)

    def test_4_starts_serves_and_stops(self):
        calls = scratch / "calls"
        with Service(watch=calls) as service:
            self.assertEqual("letter\n", service.ask("submit", "mail", "dear reader", "--id", "letter"))
            self.assertIn("attempt 1\n", service.ask("work", "--queue", "mail", "--count", "1", "--quiet", "--", "sh", "-c",
                                                     "echo attempt $TENURE_ATTEMPT"))
            self.assertEqual("fence 2\n", service.ask("lock", "nightly", "backup", "--", "sh", "-c",
                                                      "echo fence $TENURE_FENCE"))
            os.kill(service.pid(), signal.SIGHUP)  # as systemctl reload does
            self.assertIn("COMPLETED", service.ask("get", "letter"))
            self.assertEqual(0, service.stop(), service.log.read_text())
        owners = set(inside("find", "/var/lib/tenure", "-name", "*.journal", "-printf", "%u:%g %m\\n").splitlines())
        self.assertEqual(1, len(owners))
        self.assertRegex(owners.pop(), "^tenure:tenure 6[04]0$")
        began = calls.read_text().partition('execve("/usr/bin/tenured"')[2].partition("\n")[2]
        made = set(re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)[( ]", began, re.MULTILINE))
        self.assertIn("fdatasync", made)
        self.assertEqual(set(), made - Unit().calls_allowed(), "the unit's filter would not let it")

    def test_5_serves_the_same_after_a_restart_and_an_upgrade(self):
        with open(root / "etc/tenure/tenured.conf", "a", encoding="ascii") as file:
            file.write("# mine\n")
        inside("dpkg", "-i", "/tmp/tenure.deb")  # the same version again
        self.assertIn("# mine", (root / "etc/tenure/tenured.conf").read_text())
        with Service() as service:
            self.assertIn("COMPLETED", service.ask("get", "letter"))
            self.assertEqual(0, service.stop())

    def test_6_removed_keeps_the_journal(self):
        inside("apt-get", "-q", "-y", "remove", "tenure")
        for path in ("usr/bin/tenured", "usr/bin/tenure", "usr/lib/libtenure.so", "lib/systemd/system/tenured.service"):
            self.assertFalse(self.exists(path), path)
        self.assertTrue(self.exists("etc/tenure/tenured.conf"))
        self.assertNotEqual([], list((root / "var/lib/tenure").iterdir()))
        inside("apt-get", "-q", "-y", "--no-install-recommends", "install", "/tmp/tenure.deb")
        with Service() as service:
            self.assertIn("COMPLETED", service.ask("get", "letter"))
            self.assertEqual(0, service.stop())

    def test_7_purged_keeps_nothing(self):
        inside("apt-get", "-q", "-y", "purge", "tenure")
        self.assertNotIn("tenure", (root / "etc/passwd").read_text() + (root / "etc/group").read_text())
        left = inside("find", "/", "-xdev", "-name", "*tenure*", "-not", "-path", "/proc/*", "-not", "-path", "/sys/*")
        self.assertEqual("/tmp/tenure.deb\n", left)


if __name__ == "__main__":
    unittest.main(verbosity=2, failfast=True)
