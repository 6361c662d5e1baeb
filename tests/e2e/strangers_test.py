"""What connections can use up before it is known whose they are, and after: places and memory, plain and within TLS."""

import os
import shutil
import tempfile
import time
import unittest

import sanitized
import tenured
from certificates import Authority
from guarded import add_user
from tenured import Client, Failed, Tenured

MIB = 1 << 20


class Strangers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="tenure-strangers-")
        cls.users = os.path.join(cls.folder, "users")
        add_user(cls.users, "root", "admin", "submit", "work", password="root's own")
        cls.authority = Authority(cls.folder)
        certificate, key = cls.authority.sign("tenured", host="127.0.0.1")
        cls.tls = ("--tls-cert", certificate, "--tls-key", key)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def sign_in(self, server, tls=None):
        client = server.connect(tls=tls)
        self.addCleanup(client.close)
        self.assertEqual(client.ask("AUTH", "root", "root's own"), "OK")
        return client

    def connect_many(self, ports, count, data=b""):
        clients = []
        for number in range(count):
            client = Client(ports[number % len(ports)])
            self.addCleanup(client.close)
            client.socket.setblocking(False)
            clients.append(client)
            try:
                client.socket.send(data)
            except OSError:
                pass
        return clients

    def test_they_do_not_use_up_the_places_of_users(self):
        with Tenured("--users", self.users, "--strangers", "150", "--connections", "200") as server:
            root = self.sign_in(server)
            strangers = self.connect_many([server.port, server.http_port], 450)
            late = self.sign_in(server)
            self.assertEqual((root.ask("PING"), late.ask("PING")), ("PONG", "PONG"))
            lines = root.ask("CLIENT", "LIST").splitlines()
            self.assertLessEqual(len(lines), 153)
            server.await_log("too many have not signed in, and it is the oldest of them")
            self.assertEqual(len(strangers), 450)

    def test_users_are_no_strangers(self):
        with Tenured("--users", self.users, "--strangers", "3", "--connections", "100") as server:
            users = [self.sign_in(server) for _ in range(20)]
            self.assertEqual({user.ask("PING") for user in users}, {"PONG"})
            # Who signs out is one again.
            for user in users:
                self.assertEqual(user.ask("RESET"), "RESET")
            deadline = time.monotonic() + tenured.PATIENCE
            while "too many have not signed in" not in server.log():
                self.assertLess(time.monotonic(), deadline)
                self.sign_in(server).close()
                time.sleep(0.1)

    def test_where_there_are_no_users_nobody_is_one(self):
        with Tenured("--strangers", "3") as server:
            clients = [server.connect() for _ in range(20)]
            for client in clients:
                self.assertEqual(client.ask("PING"), "PONG")
                client.close()

    def test_handshakes_count(self):
        trust = self.authority.trust()
        with Tenured(*self.tls, "--strangers", "150", "--connections", "200") as server:
            known = [server.connect(tls=trust) for _ in range(25)]
            self.assertEqual({client.ask("PING") for client in known}, {"PONG"})
            self.connect_many([server.port, server.http_port], 450, b"\x16\x03\x01")
            with server.connect(tls=trust) as late:
                self.assertEqual(late.ask("PING"), "PONG")
            self.assertEqual({client.ask("PING") for client in known}, {"PONG"})
            for client in known:
                client.close()

    # --- memory ---

    def assert_bounded(self, flags, ports_of, data, count, allowed):
        with Tenured("--users", self.users, "--strangers", str(count), *flags) as server:
            tls = self.authority.trust() if flags else None
            root = self.sign_in(server, tls)  # the memory of one hash
            server.forget_memory_peak()
            before = server.memory_peak()
            self.connect_many(ports_of(server), count, data)
            self.assertEqual(root.ask("PING"), "PONG")
            self.sign_in(server, tls)
            used = server.memory_peak() - before
            self.assertLess(used, sanitized.memory(allowed))
            print(f"{count} strangers: {used / MIB:.1f} MiB")

    def test_many_who_send_half_an_auth(self):
        self.assert_bounded((), lambda server: [server.port], b"*2\r\n$4\r\nAUTH\r\n$16000\r\n" + b"x" * 15_000, 500,
                            500 * 64 * 1024 + 8 * MIB)

    def test_many_who_send_half_a_head(self):
        head = b"GET /v1/queues HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 15_000
        self.assert_bounded((), lambda server: [server.http_port], head, 500, 500 * 64 * 1024 + 8 * MIB)

    def test_many_who_send_half_a_body(self):
        head = b"POST /v1/lease HTTP/1.1\r\nHost: x\r\nContent-Length: 16000\r\n\r\n" + b"x" * 15_000
        self.assert_bounded((), lambda server: [server.http_port], head, 500, 500 * 80 * 1024 + 8 * MIB)

    def test_many_amid_the_handshake(self):
        self.assert_bounded(self.tls, lambda server: [server.port, server.http_port], b"\x16\x03\x01\x3f\xff\x01", 500,
                            500 * 64 * 1024 + 8 * MIB)

    def test_many_users(self):
        for flags, allowed in (((), 32), (self.tls, 96)):
            tls = self.authority.trust() if flags else None
            with Tenured("--users", self.users, *flags) as server:
                self.sign_in(server, tls)
                server.forget_memory_peak()
                before = server.memory_peak()
                clients = [self.sign_in(server, tls) for _ in range(800)]
                self.assertEqual({client.ask("PING") for client in clients}, {"PONG"})
                used = server.memory_peak() - before
                self.assertLess(used, sanitized.memory(800 * allowed * 1024 + 8 * MIB))
                print(f"800 users, {'within TLS' if flags else 'plain'}: {used / MIB:.1f} MiB")
                for client in clients:
                    client.close()

    def test_users_are_bounded_too(self):
        for flags in ((), self.tls):
            tls = self.authority.trust() if flags else None
            with Tenured("--users", self.users, "--buffer-bytes", "32mb", *flags) as server:
                root = self.sign_in(server, tls)
                server.forget_memory_peak()
                before = server.memory_peak()
                for _ in range(20):
                    hog = self.sign_in(server, tls)
                    try:
                        hog.send(b"*3\r\n$11\r\nTASK.SUBMIT\r\n$1\r\nq\r\n$15000000\r\n" + b"x" * (8 * MIB))
                    except OSError:
                        pass
                self.assertEqual(root.ask("PING"), "PONG")
                self.assertLess(server.memory_peak() - before, sanitized.memory(96 * MIB))
                server.await_log("buffers of all connections")

    def test_users_who_never_read_are_cut_off(self):
        for flags in ((), self.tls):
            tls = self.authority.trust() if flags else None
            with Tenured("--users", self.users, "--stalled-ms", "500", *flags) as server:
                root = self.sign_in(server, tls)
                root.ask("TASK.SUBMIT", "q", "x", "ID", "big")
                lease = root.ask("TASK.LEASE", "w", "1", "q")[0]
                root.ask("TASK.COMPLETE", "big", lease[3], "RESULT", "y" * 100_000)
                server.forget_memory_peak()
                before = server.memory_peak()
                greedy = self.sign_in(server, tls)
                with self.assertRaises(OSError):
                    while True:
                        greedy.put("TASK.GET", "big")
                self.assertLess(server.memory_peak() - before, sanitized.memory(64 * MIB))
                server.await_log("does not take its answers")
                self.assertEqual(root.ask("PING"), "PONG")

    def test_a_bulk_announced_with_512_mb_by_a_user(self):
        with Tenured("--users", self.users) as server:
            client = self.sign_in(server)
            server.forget_memory_peak()
            before = server.memory_peak()
            client.send(b"*3\r\n$11\r\nTASK.SUBMIT\r\n$1\r\nq\r\n$536870912\r\n")
            with self.assertRaisesRegex(Failed, "^TOOLARGE "):
                client.reply()
            self.assertTrue(client.is_closed_by_server())
            self.assertLess(server.memory_peak() - before, sanitized.memory(16 * MIB))


if __name__ == "__main__":
    tenured.main()
