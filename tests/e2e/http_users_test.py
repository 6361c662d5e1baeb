"""Users over HTTP: signing in with each request, what each may do, and what strangers can use up."""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import sanitized
import tenured
from guarded import add_user, curl, tenure
from tenured import Client, Tenured, in_thread

MIB = 1 << 20
ROLES = ("submit", "work", "lock", "read", "admin")

# Method, target, body, the roles that may, and what a role must be for: n the name, * every name, . none.
# Everything is about names that begin with `mail`, and finds nothing there.
MATRIX = [
    ("POST", "/v1/queues/mail.in/tasks", {"payload": "p"}, "submit", "n"),
    ("POST", "/v1/lease", {"worker": "w", "queues": ["mail.none", "mail.empty"]}, "work", "n"),
    ("POST", "/v1/tasks/T/extend", {"lease_id": "L"}, "work", "n"),
    ("POST", "/v1/tasks/T/complete", {"lease_id": "L"}, "work", "n"),
    ("POST", "/v1/tasks/T/fail", {"lease_id": "L", "reason": "why"}, "work", "n"),
    ("POST", "/v1/tasks/K/kill", {"reason": "why"}, "admin", "n"),
    ("POST", "/v1/tasks/T/resubmit", None, "submit", "n"),
    ("GET", "/v1/tasks/T", None, "submit work read admin", "n"),
    ("GET", "/v1/tasks/T/history", None, "submit work read admin", "n"),
    ("GET", "/v1/tasks/T/wait", None, "submit work read admin", "n"),
    ("GET", "/v1/queues/mail.in/tasks", None, "submit work read admin", "n"),
    ("GET", "/v1/queues", None, "submit work read admin", "*"),
    ("POST", "/v1/queues/mail.none/pause", None, "admin", "n"),
    ("POST", "/v1/queues/mail.none/resume", None, "admin", "n"),
    ("GET", "/v1/workers", None, "submit work read admin", "*"),
    ("POST", "/v1/work/mail.in/acquire", {"offset": 1}, "work", "n"),
    ("POST", "/v1/work/mail.in/succeed", {"token": "T"}, "work", "n"),
    ("POST", "/v1/work/mail.in/fail", {"token": "T"}, "work", "n"),
    ("POST", "/v1/work/mail.in/extend", {"token": "T", "lease_ms": 1}, "work", "n"),
    ("GET", "/v1/work/mail.in", None, "work read admin", "n"),
    ("GET", "/v1/work/mail.in/backlog", None, "work read admin", "n"),
    ("GET", "/v1/work/mail.in/failed", None, "work read admin", "n"),
    ("GET", "/v1/work/mail.in/done", None, "work read admin", "n"),
    ("POST", "/v1/work/mail.in/trim", {"below": 0}, "admin", "n"),
    ("GET", "/v1/work", None, "work read admin", "*"),
    ("POST", "/v1/locks/mail.in/i/acquire", {"owner": "me", "lease_ms": 1}, "lock", "n"),
    ("POST", "/v1/locks/mail.in/i/release", {"token": "T"}, "lock", "n"),
    ("POST", "/v1/locks/mail.in/i/extend", {"token": "T"}, "lock", "n"),
    ("POST", "/v1/locks/mail.in/i/force", None, "admin", "n"),
    ("GET", "/v1/locks/mail.in/i", None, "lock read admin", "n"),
    ("GET", "/v1/locks/mail.in", None, "lock read admin", "n"),
    ("GET", "/v1/locks", None, "lock read admin", "*"),
    ("GET", "/v1/status", None, "read admin", "*"),
    ("GET", "/openapi.json", None, "submit work lock read admin", "."),
    ("GET", "/v1/user", None, "submit work lock read admin", "."),
    ("GET", "/healthz", None, "stranger submit work lock read admin", "."),
    ("GET", "/readyz", None, "stranger submit work lock read admin", "."),
]


def basic(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


class Session:
    """One connection of HTTP that goes on."""

    def __init__(self, port, tls=None):
        self.client = Client(port, tls=tls)

    def ask(self, method, target, body=None, authorization=None):
        """Status and body."""
        text = b"" if body is None else json.dumps(body).encode()
        fields = f"Host: x\r\nContent-Length: {len(text)}\r\n"
        if authorization:
            fields += f"Authorization: {authorization}\r\n"
        self.client.send(f"{method} {target} HTTP/1.1\r\n{fields}\r\n".encode() + text)
        return self.reply()

    def reply(self):
        status = int(self.client._line().split()[1])
        length = 0
        while line := self.client._line():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = self.client._take(length)
        return status, json.loads(body) if body else None


class HttpUsers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="tenure-http-users-")
        cls.file = os.path.join(cls.folder, "users")
        add_user(cls.file, "root", *ROLES, password="root's own")
        for role in ROLES:
            add_user(cls.file, role, role, password=role)
            add_user(cls.file, role + "-mail", role + ":mail.*", password=role)
            add_user(cls.file, role + "-bulk", role + ":bulk", password=role)
        with open(cls.file, encoding="utf-8") as file:
            cls.original = file.read()
        cls.server = Tenured("--users", cls.file)
        cls.url = f"http://127.0.0.1:{cls.server.http_port}"
        for task in ("T", "K"):
            assert cls.curl("/v1/queues/mail.in/tasks", body={"payload": "p", "id": task}).status == 200

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        shutil.rmtree(cls.folder)

    @classmethod
    def curl(cls, target, *flags, user="root:root's own", body=None):
        return curl(cls.url + target, *(["-u", user] if user else []), *flags, body=body)

    def session(self):
        session = Session(self.server.http_port)
        self.addCleanup(session.client.close)
        return session

    # --- signing in ---

    def test_basic_and_bearer(self):
        token = base64.b64encode(b"root:root's own").decode()
        self.assertEqual(self.curl("/v1/queues").status, 200)
        self.assertEqual(self.curl("/v1/queues", "--oauth2-bearer", token, user=None).status, 200)
        self.assertEqual(self.curl("/v1/queues", "--oauth2-bearer", token.rstrip("="), user=None).status, 200)

    def test_strangers_are_asked_who_they_are(self):
        for target in ("/v1/queues", "/v1/status", "/openapi.json", "/v1/nothing", "/v1/user"):
            reply = self.curl(target, user=None)
            self.assertEqual((reply.status, reply.code), (401, "NOAUTH"), target)
            self.assertIn('WWW-Authenticate: Basic realm="tenure"', reply.head)
            self.assertIn("WWW-Authenticate: Bearer", reply.head)
        for target in ("/healthz", "/readyz"):
            self.assertEqual(self.curl(target, user=None).status, 200)
        for target in ("/", "/console.js", "/console.css", "/console.svg"):
            self.assertEqual(self.curl(target, "--compressed", "-I", user=None).status, 200)
        asked = self.curl("/v1/queues", "-H", "X-Requested-With: a page", user=None)
        self.assertEqual(asked.status, 401)
        self.assertNotIn("Basic", asked.head)
        self.assertIn("WWW-Authenticate: Bearer", asked.head)

    def test_a_user_is_told_its_roles(self):
        self.assertEqual(self.curl("/v1/user", user="submit-mail:submit").body,
                         {"user": "submit-mail", "roles": [{"role": "submit", "pattern": "mail.*"}]})

    def test_a_wrong_password_is_answered_after_a_pause(self):
        replies = []
        for user in ("root:wrong", "nobody:wrong"):
            began = time.monotonic()
            replies.append(self.curl("/v1/queues", user=user))
            self.assertGreater(time.monotonic() - began, 1)
        self.assertEqual([(reply.status, reply.code) for reply in replies], [(401, "NOAUTH")] * 2)
        self.assertEqual(replies[0].body, replies[1].body, "whether there is such a user is not told")
        for nonsense in ("Basic", "Basic x", "Digest abc", "Bearer root"):
            reply = self.curl("/v1/queues", "-H", f"Authorization: {nonsense}", user=None)
            self.assertEqual((reply.status, reply.code), (401, "NOAUTH"), nonsense)

    def test_a_password_that_is_known_costs_next_to_nothing(self):
        session = self.session()
        root = basic("root", "root's own")
        self.assertEqual(session.ask("GET", "/v1/queues", authorization=root)[0], 200)
        began = time.monotonic()
        for _ in range(200):
            self.assertEqual(session.ask("GET", "/v1/queues", authorization=root)[0], 200)
        self.assertLess(time.monotonic() - began, 5, "an argon2 each would be 10 s of work at least")

    def test_others_are_not_kept_waiting_by_a_guesser(self):
        session = self.session()
        root = basic("root", "root's own")
        session.ask("GET", "/healthz", authorization=root)
        guessers = [self.session() for _ in range(10)]
        for guesser in guessers:
            guesser.client.send(f"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: {basic('root', 'no')}\r\n\r\n".encode())
        slowest = 0.0
        began = time.monotonic()
        while time.monotonic() - began < 1:
            asked = time.monotonic()
            self.assertEqual(session.ask("GET", "/v1/queues", authorization=root)[0], 200)
            slowest = max(slowest, time.monotonic() - asked)
        self.assertLess(slowest, sanitized.seconds(0.5))
        for guesser in guessers:
            self.assertEqual(guesser.reply()[0], 401)

    def test_requests_that_are_sent_ahead_are_each_somebodys(self):
        session = self.session()
        ahead = b""
        for authorization in (basic("submit", "submit"), None, basic("submit", "no"), basic("root", "root's own")):
            field = f"Authorization: {authorization}\r\n" if authorization else ""
            ahead += f"GET /v1/status HTTP/1.1\r\nHost: x\r\n{field}\r\n".encode()
        session.client.send(ahead)
        self.assertEqual([session.reply()[0] for _ in range(4)], [403, 401, 401, 200])

    # --- permissions ---

    def test_the_matrix(self):
        session = self.session()
        for role in ROLES:
            for user, pattern in ((role, None), (role + "-mail", "mail"), (role + "-bulk", "bulk")):
                authorization = basic(user, role)
                for method, target, body, roles, touch in MATRIX:
                    allowed = role in roles.split() and (
                        touch == "." or pattern is None or (pattern == "mail" and touch == "n"))
                    status, reply = session.ask(method, target, body, authorization)
                    self.assertNotIn(status, (401, 500), (user, target, reply))
                    self.assertEqual(status != 403, allowed, (user, method, target, reply))
                    if not allowed:
                        self.assertEqual(reply["error"]["code"], "NOPERM")
        for method, target, body, roles, _ in MATRIX:
            status, _ = session.ask(method, target, body)
            self.assertEqual(status != 401, "stranger" in roles, target)

    def test_the_matrix_has_every_route(self):
        document = self.curl("/openapi.json").body
        known = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
        for method, target, *_ in MATRIX:
            segments = target.split("/")
            for path in [path for _, path in known]:
                shape = path.split("/")
                if len(shape) == len(segments) and all(a == b or a.startswith("{") for a, b in zip(shape, segments)):
                    known.discard((method, path))
        # These have tests of their own, where there are such.
        self.assertEqual({path for _, path in known} - {"/metrics", "/v1/events", "/", "/console.js", "/console.css", "/console.svg"}, set())

    def test_lease_ids_are_hidden_from_all_but_admins(self):
        self.curl("/v1/queues/mail.secret/tasks", body={"payload": "p", "id": "S"})
        lease, = self.curl("/v1/lease", body={"worker": "w", "queues": ["mail.secret"]}).body["leases"]
        for user in ("read:read", "work:work", "admin-mail:admin"):
            self.assertIsNone(self.curl("/v1/tasks/S", user=user).body["lease_id"])
            self.assertIsNone(self.curl("/v1/tasks/S/history", user=user).body["attempts"][0]["lease_id"])
        self.assertEqual(self.curl("/v1/tasks/S", user="admin:admin").body["lease_id"], lease["lease_id"])

    def test_a_lock_is_its_users(self):
        mine = {"owner": "me", "lease_ms": 600000}
        self.assertIn("token", self.curl("/v1/locks/mail.in/mine/acquire", user="lock:lock", body=mine).body)
        busy = self.curl("/v1/locks/mail.in/mine/acquire", user="lock-mail:lock", body=mine)
        self.assertEqual(busy.body, {"verdict": "BUSY"})

    # --- reading them again ---

    def test_users_who_have_gone(self):
        def restore():
            with open(self.file, "w", encoding="utf-8") as file:
                file.write(self.original)
            self.server.signal(signal.SIGHUP)
            self.server.await_log("read 16 users")

        self.addCleanup(restore)
        session, worker = self.session(), basic("work", "work")
        self.assertEqual(session.ask("GET", "/v1/queues", authorization=worker)[0], 200)
        waiting = self.session()
        waits = in_thread(lambda: waiting.ask("POST", "/v1/lease", {"worker": "w", "queues": ["mail.none"],
                                                                   "block_ms": 600000}, worker))
        with self.server.connect() as root:
            root.ask("AUTH", "root", "root's own")
            while "flags=b" not in root.ask("CLIENT", "LIST"):
                time.sleep(0.01)
            self.assertIn("user=work ", root.ask("CLIENT", "LIST"))
        self.assertEqual(tenure("user", "remove", "--users", self.file, "work").returncode, 0)
        self.server.signal(signal.SIGHUP)
        self.server.await_log("read 15 users")
        self.assertEqual(session.ask("GET", "/v1/queues", authorization=worker)[0], 401)
        with self.assertRaises((EOFError, ConnectionError)):
            waits()

    # --- limits before a user is known ---

    def test_no_large_body_is_taken_from_strangers(self):
        self.server.forget_memory_peak()
        before = self.server.memory_peak()
        for authorization in ("", "Authorization: Basic x\r\n"):
            for body in ("Content-Length: 16777216\r\n", "Content-Length: 16777216\r\nExpect: 100-continue\r\n"):
                client = Client(self.server.http_port)
                self.addCleanup(client.close)
                client.send(f"POST /v1/lease HTTP/1.1\r\nHost: x\r\n{authorization}{body}\r\n".encode())
                status = client._line()
                self.assertRegex(status, rb"^HTTP/1.1 (401|413) ")
                self.assertTrue(client.is_closed_by_server())
        chunked = Client(self.server.http_port)
        self.addCleanup(chunked.close)
        with self.assertRaises(ConnectionError):
            chunked.send(b"POST /v1/lease HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(1000):
                chunked.send(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(8 * MIB))
        payload = "x" * 500_000
        self.assertEqual(self.curl("/v1/queues/mail.in/tasks", body={"payload": payload}).status, 200,
                         "a user may send as much")

    def test_strangers_who_send_and_never_read(self):
        client = Client(self.server.http_port, receive_buffer=4096)
        self.addCleanup(client.close)
        client.socket.setblocking(False)
        self.server.forget_memory_peak()
        before = self.server.memory_peak()
        deadline = time.monotonic() + 3
        sent = 0
        while time.monotonic() < deadline and sent < 64 * MIB:
            try:
                sent += client.socket.send(b"GET /v1/queues HTTP/1.1\r\nHost: x\r\n\r\n" * 1000)
            except (BlockingIOError, ConnectionError):
                time.sleep(0.01)
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(16 * MIB))

    def test_nothing_secret_is_in_the_log(self):
        self.curl("/v1/queues", user="a password for a name:and another one")
        self.server.await_log("its sign-in is refused")
        session = self.session()
        shown = session.ask("GET", "/v1/status", authorization=basic("root", "root's own"))[1]
        with self.server.connect() as root:
            root.ask("AUTH", "root", "root's own")
            shown = str(shown) + root.ask("CLIENT", "LIST") + str(root.ask("CONFIG", "GET", "*"))
        for secret in ("a password", "and another", "root's own", basic("root", "root's own").split()[1], "argon2"):
            self.assertNotIn(secret, self.server.log())
            self.assertNotIn(secret, shown)


class Time(unittest.TestCase):
    def test_who_does_not_say_who_asks_is_cut_off(self):
        with tempfile.NamedTemporaryFile("w") as file:
            with Tenured("--users", file.name, "--sign-in-ms", "300") as server:
                for bytes_of_it in (b"", b"GET /v1/q"):
                    with Client(server.http_port) as client:
                        client.send(bytes_of_it)
                        self.assertTrue(client.is_closed_by_server())
                server.await_log("it has not signed in")
                self.assertEqual(subprocess.run(["curl", "-sf", f"http://127.0.0.1:{server.http_port}/readyz"],
                                                capture_output=True, check=False).returncode, 0)


if __name__ == "__main__":
    tenured.main()
