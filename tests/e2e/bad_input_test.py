"""Bad input: the coded error or a closed connection, memory that stays bounded, and a server that serves on."""

import random
import resource
import socket
import time
import unittest

import sanitized
import tenured
from tenured import Failed, Tenured

MIB = 1 << 20


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Tenured()
        cls.memory_at_start = cls.server.memory_peak()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def tearDown(self):
        with self.server.connect() as client:
            self.assertEqual(client.ask("PING"), "PONG", "the server serves on")

    def send(self, data):
        client = self.server.connect()
        self.addCleanup(client.close)
        client.send(data)
        return client

    def assert_broken(self, data):
        """An error, and the connection is closed."""
        client = self.send(data)
        with self.assertRaisesRegex(Failed, "^(ERR|INVALID|TOOLARGE) "):
            client.reply()
        self.assertTrue(client.is_closed_by_server())

    def assert_refused(self, *words, code="ERR"):
        """An error, and the connection goes on."""
        with self.server.connect() as client:
            with self.assertRaisesRegex(Failed, f"^{code} ", msg=words):
                client.ask(*words)
            self.assertEqual(client.ask("PING"), "PONG")

    def test_garbage_bytes(self):
        bits = random.Random(7)
        for _ in range(200):
            client = self.send(bytes(bits.randrange(256) for _ in range(bits.randrange(1, 2000))) + b"\r\n")
            client.socket.shutdown(socket.SHUT_WR)
            self.assertTrue(client.is_closed_by_server())

    def test_broken_framing(self):
        self.assert_broken(b"*1\r\n+PING\r\n")
        self.assert_broken(b"*1\r\n$4\r\nPINGxx")
        self.assert_broken(b"*x\r\n")
        self.assert_broken(b"*1\r\n$x\r\n")

    def test_negative_and_nested_counts(self):
        self.assert_broken(b"*1\r\n$-5\r\n")
        self.assert_broken(b"*2\r\n*1\r\n$4\r\nPING\r\n")

    def test_counts_that_overflow(self):
        self.assert_broken(b"*99999999999999999999\r\n")
        self.assert_broken(b"*1\r\n$99999999999999999999\r\n")
        self.assert_broken(b"*2147483647\r\n")

    def test_a_bulk_string_announced_with_512_mb(self):
        before = self.server.memory_peak()
        self.assert_broken(b"*3\r\n$11\r\nTASK.SUBMIT\r\n$1\r\nq\r\n$536870912\r\n")
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(16 * MIB))

    def test_a_request_over_the_limit_is_skipped_and_the_connection_goes_on(self):
        with self.server.connect() as client:
            client.send(b"*3\r\n$11\r\nTASK.SUBMIT\r\n$1\r\nq\r\n$%d\r\n" % (20 * MIB))
            for _ in range(20):
                client.send(b"x" * MIB)
            client.send(b"\r\n")
            with self.assertRaisesRegex(Failed, "^TOOLARGE "):
                client.reply()
            self.assertEqual(client.ask("PING"), "PONG")

    def test_half_requests(self):
        whole = tenured.request("TASK.SUBMIT", "q", "payload")
        for length in range(len(whole)):
            client = self.send(whole[:length])
            client.socket.shutdown(socket.SHUT_WR)
            self.assertTrue(client.is_closed_by_server())
        with self.server.connect() as client:
            self.assertEqual(client.ask("QUEUE.LIST")[1], [], "no half request was taken for a whole one")

    def test_a_request_that_comes_byte_by_byte(self):
        with self.server.connect() as client:
            for byte in tenured.request("ECHO", "slow"):
                client.send(bytes([byte]))
                time.sleep(0.001)
            self.assertEqual(client.reply(), "slow")

    def test_wrong_numbers_of_arguments_and_unknown_words(self):
        self.assert_refused("LOCK.ACQUIRE", "d")
        self.assert_refused("LOCK.ACQUIRE", "d", "i", "o", "LEASE")
        self.assert_refused("LOCK.ACQUIRE", "d", "i", "o", "LEASE", "1", "LEASE", "1")
        self.assert_refused("TASK.LEASE", "w", "2", "q")
        self.assert_refused("NO.SUCH", "d")
        self.assert_refused("TASK.SUBMIT", "q", "p", "WRONG", "1")
        self.assert_refused("LOCK.ACQUIRE", "d", "i", "o", "LEASE", "soon")

    def test_numbers_that_overflow(self):
        self.assert_refused("LOCK.ACQUIRE", "d", "i", "o", "LEASE", "99999999999999999999", code="INVALID")
        self.assert_refused("TASK.SUBMIT", "q", "p", "RETRIES", "4294967296", code="INVALID")
        self.assert_refused("WORK.ACQUIRE", "d", "9223372036854775808", code="INVALID")
        self.assert_refused("WORK.ACQUIRE", "d", "-1", code="INVALID")
        self.assert_refused("TASK.LEASE", "w", "1", "q", "COUNT", "1001", code="INVALID")
        self.assert_refused("TASK.LEASE", "w", "18446744073709551617", "q", code="INVALID")

    def test_names_and_payloads_out_of_their_limits(self):
        self.assert_refused("LOCK.ACQUIRE", "d" * 256, "i", "o", code="INVALID")
        self.assert_refused("LOCK.ACQUIRE", "a::b", "i", "o", code="INVALID")
        self.assert_refused("TASK.SUBMIT", b"\xff", "p", code="INVALID")
        self.assert_refused("TASK.SUBMIT", "q", "x" * (MIB + 1), code="TOOLARGE")

    def test_too_many_words(self):
        self.assert_refused("TASK.LEASE", "w", "3000", *["q"] * 3000, code="(ERR|INVALID|TOOLARGE)")

    def test_inline_commands(self):
        client = self.send(b"ECHO 'two words'\r\nPING\n\r\n  \nNONSENSE\r\n")
        self.assertEqual(client.reply(), "two words")
        self.assertEqual(client.reply(), "PONG")
        with self.assertRaisesRegex(Failed, "^ERR "):
            client.reply()


class Limits(unittest.TestCase):
    def test_ten_thousand_connections(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 10_500
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))  # fails loudly where it may not
            self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, max(hard, wanted)))
        with Tenured() as server:
            before = server.memory_peak()
            clients = []
            try:
                for _ in range(10_000):
                    clients.append(server.connect())
                for client in clients:
                    client.put("LOCK.ACQUIRE", "d", "i", "o")
                self.assertEqual(sum(client.reply() is not None for client in clients), 10_000)
                with server.connect() as late, self.assertRaisesRegex(Failed, "^BACKPRESSURE connections"):
                    late.reply()
                used = server.memory_peak() - before
                self.assertLess(used, sanitized.memory(200 * MIB))
                print(f"10,000 connections: {used / MIB:.0f} MiB")
                clients.pop().close()
                self._await_ping(server)
            finally:
                for client in clients:
                    client.close()

    def _await_ping(self, server):
        deadline = time.monotonic() + tenured.PATIENCE
        while time.monotonic() < deadline:
            try:
                with server.connect() as client:
                    self.assertEqual(client.ask("PING"), "PONG")
                    return
            except (Failed, ConnectionError, EOFError):
                time.sleep(0.01)
        self.fail("the place of one that left is not given to another")

    def test_a_client_that_never_reads_is_cut_off(self):
        # Three seconds: a server without the limit has the time to reach the next one, and is cut off for that.
        with Tenured("--stalled-ms", "3000", "--buffer-bytes", "128mb") as server, server.connect() as client:
            client.ask("TASK.SUBMIT", "q", "x", "ID", "big")
            lease = client.ask("TASK.LEASE", "w", "1", "q")[0]
            client.ask("TASK.COMPLETE", "big", lease[3], "RESULT", "y" * 100_000)
            before = server.memory_peak()
            with server.connect(receive_buffer=4096) as greedy, self.assertRaises(ConnectionError):
                while True:
                    greedy.put("TASK.GET", "big")
            self.assertEqual(client.ask("PING"), "PONG")
            # 128 answers of 100 kB may be under way, each held by the engine, then in its place, then in the output.
            self.assertLess(server.memory_peak() - before, sanitized.memory(64 * MIB))
            server.await_log("client.cut_off")
            self.assertIn("does not take its answers", server.log())

    def test_who_asks_for_more_than_the_limit_and_does_not_read_is_cut_off(self):
        with Tenured("--output-bytes", "4mb") as server, server.connect() as client:
            client.ask("TASK.SUBMIT", "q", "x", "ID", "big")
            lease = client.ask("TASK.LEASE", "w", "1", "q")[0]
            client.ask("TASK.COMPLETE", "big", lease[3], "RESULT", "y" * MIB)
            with server.connect(receive_buffer=4096) as greedy:
                greedy.send(tenured.request("TASK.GET", "big") * 64)
                self.assertTrue(greedy.is_closed_by_server())
            self.assertEqual(client.ask("PING"), "PONG")
            server.await_log("does not take its answers")

    def test_the_buffers_of_all_connections_together_are_bounded(self):
        with Tenured("--buffer-bytes", "32mb") as server, server.connect() as client:
            before = server.memory_peak()
            half = [server.connect() for _ in range(20)]
            for hog in half:
                try:
                    hog.send(b"*3\r\n$11\r\nTASK.SUBMIT\r\n$1\r\nq\r\n$15000000\r\n" + b"x" * (8 * MIB))
                except ConnectionError:
                    pass
            self.assertEqual(client.ask("PING"), "PONG")
            self.assertLess(server.memory_peak() - before, sanitized.memory(96 * MIB))
            server.await_log("buffers of all connections")
            for hog in half:
                hog.close()

    def test_who_sends_too_much_behind_a_request_that_waits_is_cut_off(self):
        with Tenured() as server, server.connect() as client, server.connect() as other:
            client.put("TASK.LEASE", "w", "1", "q", "BLOCK", "600000")
            with self.assertRaises(ConnectionError):
                while True:
                    client.send(tenured.request("PING") * 1000)
            other.ask("TASK.SUBMIT", "q", "p", "ID", "t")
            self.assertEqual(other.ask("TASK.GET", "t")[5], "WAITING", "its wait has ended")

    def test_pipelined_requests_without_end_are_answered_as_they_are_read(self):
        with Tenured() as server, server.connect() as client:
            before = server.memory_peak()
            sender = tenured.in_thread(lambda: [client.send(tenured.request("PING") * 10_000) for _ in range(20)])
            for _ in range(200_000):
                self.assertEqual(client.reply(), "PONG")
            sender()
            self.assertLess(server.memory_peak() - before, sanitized.memory(32 * MIB))

    def test_a_full_state_refuses_new_work_and_lets_work_be_finished(self):
        with Tenured("--state-bytes", "1mb") as server, server.connect() as client:
            with self.assertRaisesRegex(Failed, "^BACKPRESSURE"):
                for _ in range(100):
                    client.ask("TASK.SUBMIT", "q", "x" * 100_000)
            lease = client.ask("TASK.LEASE", "w", "1", "q")
            if lease:
                self.assertEqual(client.ask("TASK.COMPLETE", lease[0][1], lease[0][3]), "COMMITTED")

    def test_waiters_of_one_name_are_limited(self):
        with Tenured("--waiters", "3") as server:
            waiting = [server.connect() for _ in range(3)]
            with server.connect() as client:
                for waiter in waiting:
                    waiter.put("TASK.LEASE", "w", "1", "q", "BLOCK", "60000")
                while "blocked_clients:3\r\n" not in client.ask("INFO", "clients"):
                    pass
                with self.assertRaisesRegex(Failed, "^BACKPRESSURE"):
                    client.ask("TASK.LEASE", "w", "1", "q", "BLOCK", "60000")
            for waiter in waiting:
                waiter.close()


if __name__ == "__main__":
    tenured.main()
