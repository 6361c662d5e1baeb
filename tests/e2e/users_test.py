"""Users: signing in, what each may do, reading them again, and what strangers can use up."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import redis

import sanitized
import tenured
from tenured import Failed, Tenured

TENURE = os.environ["TENURE"]
MIB = 1 << 20


def tenure(*words, password=None):
    return subprocess.run([TENURE, *words], input=password, capture_output=True, text=True, timeout=tenured.PATIENCE)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Users(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="tenure-users-")
        cls.file = os.path.join(cls.folder, "users")
        cls.add("root", "admin", password="root's own")
        cls.add("mailer", "submit:mail.*", "read:mail.*", password="m")
        cls.add("worker", "work:mail.*", password="w")
        cls.add("locker", "lock", password="l")
        cls.add("default", "read", password="d")
        cls.original = text_of(cls.file)
        cls.server = Tenured("--users", cls.file)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        shutil.rmtree(cls.folder)

    @classmethod
    def add(cls, name, *roles, password):
        words = [word for role in roles for word in ("--role", role)]
        done = tenure("user", "add", "--users", cls.file, name, *words, password=password + "\n")
        assert done.returncode == 0, done.stderr

    def connect(self, name=None, password=None):
        client = self.server.connect()
        self.addCleanup(client.close)
        if name:
            self.assertEqual(client.ask("AUTH", name, password), "OK")
        return client

    def refused(self, client, code, *words):
        with self.assertRaisesRegex(Failed, f"^{code} ") as failed:
            client.ask(*words)
        return str(failed.exception)

    def reload(self, line):
        """Reads the file again, and waits until the log says so."""
        before = len(self.server.lines)
        self.server.signal(signal.SIGHUP)
        deadline = time.monotonic() + tenured.PATIENCE
        while not any(re.search(line, found) for found in self.server.lines[before:]):
            self.assertLess(time.monotonic(), deadline, self.server.log())
            time.sleep(0.01)

    def restore(self):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(self.original)
        self.reload("read 5 users")

    # --- signing in ---

    def test_strangers_may_only_sign_in_and_go(self):
        client = self.connect()
        for words in (["PING"], ["TASK.SUBMIT", "mail.in", "p"], ["INFO"], ["HELLO", "3"], ["COMMAND"],
                      ["CLIENT", "LIST"], ["SHUTDOWN"]):
            self.refused(client, "NOAUTH", *words)
        self.assertEqual(client.ask("RESET"), "RESET")
        self.assertEqual(client.ask("QUIT"), "OK")

    def test_signing_in(self):
        client = self.connect("root", "root's own")
        self.assertEqual(client.ask("PING"), "PONG")
        self.assertIn("user=root ", client.ask("CLIENT", "LIST"))
        self.assertEqual(client.ask("RESET"), "RESET")
        self.refused(client, "NOAUTH", "PING")
        self.assertIn("tenure", client.ask("HELLO", "2", "AUTH", "root", "root's own"))
        self.assertEqual(client.ask("AUTH", "d"), "OK", "a password alone is the default user's")
        self.refused(client, "NOPERM", "CLIENT", "LIST")

    def test_requests_behind_a_sign_in_wait_for_it(self):
        client = self.connect()
        client.send(tenured.request("AUTH", "mailer", "m") + tenured.request("PING") +
                    tenured.request("TASK.SUBMIT", "mail.pipeline", "p", "ID", "pipelined"))
        self.assertEqual([client.reply(), client.reply(), client.reply()], ["OK", "PONG", ["pipelined", "CREATED"]])

    def test_a_wrong_password_is_answered_after_a_pause_and_others_are_not_kept_waiting(self):
        root = self.connect("root", "root's own")
        guessers = [self.connect() for _ in range(20)]
        began = time.monotonic()
        for number, guesser in enumerate(guessers):
            guesser.put("AUTH", ["root", "nobody"][number % 2], "wrong")
        slowest = 0.0
        while time.monotonic() - began < 1:
            asked = time.monotonic()
            self.assertEqual(root.ask("PING"), "PONG")
            slowest = max(slowest, time.monotonic() - asked)
        self.assertLess(slowest, sanitized.seconds(0.5))
        messages = set()
        for guesser in guessers:
            with self.assertRaisesRegex(Failed, "^NOAUTH ") as failed:
                guesser.reply()
            messages.add(str(failed.exception))
        self.assertGreater(time.monotonic() - began, 1)
        self.assertEqual(len(messages), 1, "whether there is such a user is not told")
        counted = int(re.search(r"refused_sign_ins:(\d+)", root.ask("INFO", "clients"))[1])
        self.assertGreaterEqual(counted, 20)
        self.assertRegex(root.ask("INFO", "clients"), r"signed_in_clients:[1-9]")

    def test_redis_py_signs_in_with_both_protocols(self):
        for protocol in (2, 3):
            client = redis.Redis(port=self.server.port, username="mailer", password="m", protocol=protocol,
                                 decode_responses=True)
            self.assertTrue(client.ping())
            self.assertEqual(client.execute_command("TASK.SUBMIT", "mail.py", "p", "ID", f"py{protocol}"),
                             [f"py{protocol}", "CREATED"])
            with self.assertRaises(redis.exceptions.NoPermissionError):
                client.execute_command("TASK.SUBMIT", "other", "p")
            client.close()
            wrong = redis.Redis(port=self.server.port, username="mailer", password="x", protocol=protocol)
            with self.assertRaises(redis.exceptions.AuthenticationError):
                wrong.ping()
            wrong.close()
            nobody = redis.Redis(port=self.server.port, protocol=2)
            with self.assertRaises(redis.exceptions.AuthenticationError):
                nobody.ping()
            nobody.close()

    def test_redis_cli_signs_in(self):
        cli = ["redis-cli", "-p", str(self.server.port), "--no-auth-warning"]
        good = subprocess.run([*cli, "--user", "root", "--pass", "root's own", "PING"], capture_output=True, text=True,
                              timeout=tenured.PATIENCE)
        self.assertEqual(good.stdout, "PONG\n")
        bad = subprocess.run([*cli, "PING"], capture_output=True, text=True, timeout=tenured.PATIENCE)
        self.assertTrue(bad.stdout.startswith("NOAUTH"), bad.stdout)

    # --- permissions ---

    def test_roles_are_for_the_names_that_match(self):
        mailer, worker = self.connect("mailer", "m"), self.connect("worker", "w")
        self.assertEqual(mailer.ask("TASK.SUBMIT", "mail.a", "p", "ID", "A"), ["A", "CREATED"])
        self.assertIn("role submit for 'bulk'", self.refused(mailer, "NOPERM", "TASK.SUBMIT", "bulk", "p"))
        self.assertIn("role work", self.refused(mailer, "NOPERM", "TASK.LEASE", "w", "1", "mail.a"))
        self.refused(worker, "NOPERM", "TASK.LEASE", "w", "2", "mail.a", "bulk")
        lease = worker.ask("TASK.LEASE", "w", "1", "mail.a")[0]
        self.assertEqual(worker.ask("TASK.COMPLETE", "A", lease[3], "RESULT", "done"), "COMMITTED")
        self.assertIn("COMPLETED", mailer.ask("TASK.WAIT", "A", "BLOCK", "60000"))
        self.assertIn("role admin", self.refused(worker, "NOPERM", "TASK.KILL", "A", "why"))
        for words in (["QUEUE.LIST"], ["INFO"], ["WORKER.LIST"]):
            self.refused(mailer, "NOPERM", *words)
        self.assertEqual(worker.ask("PING"), "PONG", "the connection goes on")

    def test_a_task_of_another_queue_is_not_theirs(self):
        locker, mailer, worker = self.connect("locker", "l"), self.connect("mailer", "m"), self.connect("worker", "w")
        self.add("bulk", "submit:bulk", password="b")
        self.addCleanup(self.restore)
        self.reload("read 6 users")
        bulk = self.connect("bulk", "b")
        self.assertEqual(bulk.ask("TASK.SUBMIT", "bulk", "p", "ID", "B"), ["B", "CREATED"])
        self.assertIn("queue of task 'B'", self.refused(mailer, "NOPERM", "TASK.GET", "B"))
        self.refused(worker, "NOPERM", "TASK.COMPLETE", "B", "1-0000000000000000")
        self.refused(locker, "NOPERM", "TASK.GET", "B")
        self.assertIn("B", bulk.ask("TASK.GET", "B"))
        self.assertIsNone(mailer.ask("TASK.GET", "unknown"))

    def test_lease_ids_are_hidden_from_all_but_admins(self):
        mailer, worker = self.connect("mailer", "m"), self.connect("worker", "w")
        mailer.ask("TASK.SUBMIT", "mail.secret", "p", "ID", "S")
        lease_id = worker.ask("TASK.LEASE", "w", "1", "mail.secret")[0][3]
        for client in (mailer, worker):
            self.assertNotIn(lease_id, client.ask("TASK.GET", "S"))
            self.assertNotIn(lease_id, client.ask("TASK.HISTORY", "S")[0])
        self.assertIn(lease_id, self.connect("root", "root's own").ask("TASK.GET", "S"))

    def test_a_lock_is_its_users(self):
        self.add("other", "lock", password="o")
        self.addCleanup(self.restore)
        self.reload("read 6 users")
        self.assertEqual(len(self.connect("locker", "l").ask("LOCK.ACQUIRE", "d", "mine", "me")), 4)
        self.assertIsNone(self.connect("other", "o").ask("LOCK.ACQUIRE", "d", "mine", "me"), "not the same owner")

    # --- reading them again ---

    def test_users_who_have_gone_or_changed(self):
        self.addCleanup(self.restore)
        mailer, worker, locker = self.connect("mailer", "m"), self.connect("worker", "w"), self.connect("locker", "l")
        waiter = self.connect("worker", "w")
        waiter.put("TASK.LEASE", "w", "1", "mail.never", "BLOCK", "600000")
        self.add("mailer", "submit:bulk", password="m2")
        self.assertEqual(tenure("user", "remove", "--users", self.file, "worker").returncode, 0)
        lines = text_of(self.file).replace(" lock\n", " read\n")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(lines)
        self.assertEqual(worker.ask("PING"), "PONG", "nothing changes before it is read")
        self.reload("read 4 users")
        self.refused(mailer, "NOAUTH", "PING")
        self.refused(worker, "NOAUTH", "PING")
        self.assertTrue(waiter.is_closed_by_server())
        self.refused(locker, "NOPERM", "LOCK.ACQUIRE", "d", "i", "me")
        self.assertIsNone(locker.ask("LOCK.GET", "d", "i"))
        self.refused(mailer, "NOAUTH", "AUTH", "mailer", "m")
        self.assertEqual(mailer.ask("AUTH", "mailer", "m2"), "OK")
        self.refused(mailer, "NOPERM", "TASK.SUBMIT", "mail.a", "p")
        self.refused(worker, "NOAUTH", "AUTH", "worker", "w")

    def test_a_damaged_file_changes_nothing(self):
        self.addCleanup(self.restore)
        mailer = self.connect("mailer", "m")
        with open(self.file, "a", encoding="utf-8") as file:
            file.write("nonsense\n")
        self.reload("the users stay as they are: .*: line 6: expected a name, a hash and roles, found one word")
        self.assertEqual(mailer.ask("PING"), "PONG")
        self.assertEqual(self.connect("locker", "l").ask("PING"), "PONG")

    # --- limits before AUTH ---

    def test_what_a_stranger_announces_takes_no_memory(self):
        self.server.forget_memory_peak()
        before = self.server.memory_peak()
        for data in (b"*2\r\n$4\r\nAUTH\r\n$536870912\r\n", b"*2\r\n$4\r\nAUTH\r\n$16384\r\n", b"*17\r\n",
                     b"*1000000\r\n", b"AUTH " + b"x" * 17000):
            client = self.connect()
            client.send(data)
            with self.assertRaisesRegex(Failed, "^(ERR|TOOLARGE) "):
                client.reply()
            self.assertTrue(client.is_closed_by_server())
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(8 * MIB))

    def test_many_strangers_who_send_as_much_as_they_can(self):
        self.connect("root", "root's own")  # the memory of one hash
        self.server.forget_memory_peak()
        before = self.server.memory_peak()
        strangers = []
        for _ in range(400):
            client = self.connect()
            client.socket.setblocking(False)
            strangers.append(client)
            try:
                client.socket.send(b"*2\r\n$4\r\nAUTH\r\n$16000\r\n" + b"x" * 15000)
            except BlockingIOError:
                pass
        root = self.connect("root", "root's own")
        self.assertEqual(root.ask("PING"), "PONG")
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(400 * 64 * 1024 + 8 * MIB))

    def test_a_stranger_who_takes_no_answers_is_not_served(self):
        client = self.connect()
        client.socket.setblocking(False)
        self.server.forget_memory_peak()
        before = self.server.memory_peak()
        sent = 0
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline and sent < 64 * MIB:
            try:
                sent += client.socket.send(b"PING\r\n" * 10_000)
            except (BlockingIOError, ConnectionError):
                time.sleep(0.01)
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(16 * MIB))

    def test_nothing_secret_is_in_the_log(self):
        client = self.connect()
        self.refused(client, "NOAUTH", "AUTH", "my password as a name", "and another one")
        log = self.server.log()
        self.assertIn("its sign-in is refused", log)
        for secret in ("my password", "and another", "root's own", "argon2"):
            self.assertNotIn(secret, log)
        with self.connect("root", "root's own") as root:
            self.assertNotIn("root's own", root.ask("CLIENT", "LIST") + str(root.ask("CONFIG", "GET", "*")))


class Starting(unittest.TestCase):
    def run_refused(self, *flags):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([tenured.PROGRAM, "--data", folder, "--port", "0", *flags], capture_output=True,
                                  text=True, timeout=tenured.PATIENCE)
            self.assertNotEqual(done.returncode, 0)
            return done.stderr

    def test_a_file_that_is_missing_or_damaged(self):
        self.assertIn("tenure user add --users /missing/users", self.run_refused("--users", "/missing/users"))
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("joe secret read\n")
            file.flush()
            told = self.run_refused("--users", file.name)
            self.assertIn("line 1: hash: expected $argon2id", told)
            self.assertNotIn("secret", told)

    def test_an_address_that_others_can_reach_needs_users_and_tls(self):
        self.assertIn("expected users and TLS, found neither", self.run_refused("--bind", "0.0.0.0"))
        with tempfile.NamedTemporaryFile("w") as file:
            told = self.run_refused("--bind", "0.0.0.0", "--users", file.name)
            self.assertIn("found users alone", told)
            self.assertIn("--insecure", told)

    def test_loopback_without_users_is_open(self):
        with Tenured() as server, server.connect() as client:
            self.assertEqual(client.ask("PING"), "PONG")
            with self.assertRaisesRegex(Failed, "^ERR AUTH: expected no password"):
                client.ask("AUTH", "x")
            server.signal(signal.SIGHUP)
            self.assertEqual(client.ask("PING"), "PONG", "SIGHUP does not end it")

    def test_who_does_not_sign_in_in_time_is_cut_off(self):
        with tempfile.NamedTemporaryFile("w") as file:
            with Tenured("--users", file.name, "--sign-in-ms", "300") as server, server.connect() as client:
                began = time.monotonic()
                self.assertTrue(client.is_closed_by_server())
                self.assertLess(time.monotonic() - began, sanitized.seconds(10))
                server.await_log("it has not signed in")


class Commands(unittest.TestCase):
    def test_the_password_comes_from_standard_input_and_is_never_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "users")
            added = tenure("user", "add", "--users", file, "joe", "--role", "lock:orders", password="open sesame\n")
            self.assertEqual((added.returncode, added.stdout), (0, "added joe lock:orders\n"))
            self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
            listed = tenure("user", "list", "--users", file)
            self.assertEqual(listed.stdout, "joe lock:orders\n")
            self.assertNotIn("sesame", added.stdout + added.stderr + text_of(file))
            self.assertNotEqual(tenure("user", "add", "--users", file, "ann", password="").returncode, 0)
            self.assertNotEqual(tenure("user", "add", "--users", file, "ann", "password").returncode, 0)
            self.assertEqual(tenure("user", "remove", "--users", file, "joe").returncode, 0)
            self.assertEqual(text_of(file), "")

    def test_at_a_terminal_it_is_not_echoed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "users")
            command, terminal = os.openpty()
            process = subprocess.Popen([TENURE, "user", "add", "--users", file, "joe"], stdin=terminal,
                                       stdout=terminal, stderr=terminal, start_new_session=True)
            os.close(terminal)
            shown = b""
            try:
                for ending in (b"Password: ", b"Once more: "):
                    while not shown.endswith(ending):
                        shown += os.read(command, 1000)
                    os.write(command, b"open sesame\n")
                while True:
                    more = os.read(command, 1000)
                    if not more:
                        break
                    shown += more
            except OSError:  # the other end is closed
                pass
            self.assertEqual(process.wait(tenured.PATIENCE), 0, shown)
            os.close(command)
            self.assertIn(b"added joe", shown)
            self.assertNotIn(b"sesame", shown)


if __name__ == "__main__":
    tenured.main()
