"""Bad input over HTTP: the coded error or a closed connection, memory that stays bounded, and a server that serves on."""

import json
import random
import re
import socket
import time
import unittest

import sanitized
import tenured
from tenured import Client, Tenured

MIB = 1 << 20


class Answer:
    """One response, of a connection that goes on or does not."""

    def __init__(self, client):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client._take(1)
        self.head = head.decode()
        self.status = int(self.head.split()[1])
        length = int(re.search(r"Content-Length: (\d+)", self.head)[1])
        body = client._take(length)
        self.body = json.loads(body) if body else None
        self.code = (self.body or {}).get("error", {}).get("code")


class HttpBadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Tenured("--stalled-ms", "1500", "--pipelined-bytes", "65536")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def tearDown(self):
        self.assertEqual(self.ask(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").status, 200, "the server serves on")

    def connect(self):
        client = Client(self.server.http_port)
        self.addCleanup(client.close)
        return client

    def ask(self, data):
        client = self.connect()
        client.send(data)
        return Answer(client)

    def assert_broken(self, data, status=400, code="ERR"):
        """The error, and the connection is closed."""
        client = self.connect()
        client.send(data)
        answer = Answer(client)
        self.assertEqual((answer.status, answer.code), (status, code), data[:200])
        self.assertIn("Connection: close", answer.head)
        self.assertTrue(client.is_closed_by_server())

    def assert_refused(self, data, status=400, code="ERR"):
        """The error, and the connection goes on."""
        client = self.connect()
        client.send(data)
        answer = Answer(client)
        self.assertEqual((answer.status, answer.code), (status, code), data[:200])
        client.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertEqual(Answer(client).status, 200)
        return answer

    @staticmethod
    def post(target, body, *fields):
        head = "".join(f"{field}\r\n" for field in ("Host: x", *fields))
        return f"POST {target} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    # --- framing ---

    def test_a_length_beside_an_encoding(self):
        head = b"POST /v1/lease HTTP/1.1\r\nHost: x\r\n"
        self.assert_broken(head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        self.assert_broken(head + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n")

    def test_lengths_that_are_not_one_number(self):
        head = b"POST /v1/lease HTTP/1.1\r\nHost: x\r\n"
        for fields in (b"Content-Length: 2\r\nContent-Length: 2\r\n", b"Content-Length: 2\r\nContent-Length: 3\r\n",
                       b"Content-Length: 2, 2\r\n", b"Content-Length: -1\r\n", b"Content-Length: +2\r\n",
                       b"Content-Length: 0x2\r\n", b"Content-Length: \r\n", b"Content-Length: 99999999999999999999\r\n"):
            self.assert_broken(head + fields + b"\r\n{}")

    def test_encodings_other_than_chunked(self):
        head = b"POST /v1/lease HTTP/1.1\r\nHost: x\r\n"
        for value in (b"gzip", b"gzip, chunked", b"chunked, gzip", b"identity", b"xchunked", b"chunked, chunked", b""):
            self.assert_broken(head + b"Transfer-Encoding: " + value + b"\r\n\r\n0\r\n\r\n")
        self.assert_broken(b"POST /v1/lease HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")

    def test_bad_chunks(self):
        head = b"POST /v1/lease HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        for chunks in (b"x\r\n", b"-1\r\n", b"2\r\n{}x\r\n0\r\n\r\n", b"ffffffffffffffffff\r\n", b"2 2\r\n{}\r\n0\r\n\r\n",
                       b"0x2\r\n{}\r\n0\r\n\r\n", b"1;" + b"x" * 40_000):
            self.assert_broken(head + chunks)
        self.assert_broken(head + b"fffffff0\r\n", 413, "TOOLARGE")

    def test_good_chunks_are_read(self):
        self.assert_refused(b"POST /v1/lease HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                            b"1\r\n{\r\n1;name=value\r\n}\r\n0\r\nTrailer: x\r\n\r\n")

    def test_heads_that_can_be_read_in_two_ways(self):
        for field in (b"Content-Length : 2", b" Content-Length: 2", b"A: b\r\n folded", b"A: b\r\n\tfolded", b"no colon",
                      b": nameless", b"A\x00: b", b"A: b\x00", b"A: b\nContent-Length: 2", b"A\xff: b"):
            self.assert_broken(b"POST /v1/lease HTTP/1.1\r\nHost: x\r\n" + field + b"\r\n\r\n{}")

    def test_hosts(self):
        self.assert_broken(b"GET /healthz HTTP/1.1\r\n\r\n")
        self.assert_broken(b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
        self.assertEqual(self.ask(b"GET /healthz HTTP/1.0\r\n\r\n").status, 200)

    def test_lines_that_are_no_request(self):
        for line in (b"nonsense", b"GET /healthz", b"GET  /healthz HTTP/1.1", b"GET /healthz HTTP/1", b"GET /a b HTTP/1.1",
                     b"GET /healthz HTTP/x.y", b"G@T /healthz HTTP/1.1", b"GET /healthz http/1.1", b"*1", b"\x16\x03\x01",
                     b"PRI * HTTP/2.0", b"GET /healthz HTTP/0.9", b"GET /healthz HTTP/1.2"):
            self.assert_broken(line + b"\r\nHost: x\r\n\r\n")

    def test_garbage_bytes(self):
        bits = random.Random(7)
        for _ in range(100):
            client = self.connect()
            client.send(bytes(bits.randrange(256) for _ in range(bits.randrange(1, 2000))) + b"\r\n\r\n")
            client.socket.shutdown(socket.SHUT_WR)
            self.assertTrue(client.is_closed_by_server())

    # --- limits ---

    def test_heads_that_are_too_large(self):
        before = self.server.memory_peak()
        self.assert_broken(b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 17_000, 431, "TOOLARGE")
        self.assert_broken(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 3_000, 431, "TOOLARGE")
        self.assert_broken(b"GET /" + b"x" * 17_000, 431, "TOOLARGE")
        self.assert_broken(b"GET /" + b"x" * 9_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414, "TOOLARGE")
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(16 * MIB))

    def test_a_body_announced_too_large_is_refused_before_it_is_sent(self):
        before = self.server.memory_peak()
        self.assert_broken(b"POST /v1/lease HTTP/1.1\r\nHost: x\r\nContent-Length: 17000000\r\n\r\n", 413, "TOOLARGE")
        self.assert_broken(b"POST /v1/lease HTTP/1.1\r\nHost: x\r\nContent-Length: 17000000\r\n"
                           b"Expect: 100-continue\r\n\r\n", 413, "TOOLARGE")
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(8 * MIB))

    def test_bodies_announced_and_not_sent_take_no_memory(self):
        before = self.server.memory_peak()
        for _ in range(100):
            self.connect().send(b"POST /v1/lease HTTP/1.1\r\nHost: x\r\nContent-Length: 16000000\r\n\r\n{")
        self.assertEqual(self.ask(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").status, 200)
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(16 * MIB))

    def test_a_payload_over_the_limit(self):
        self.assert_refused(self.post("/v1/queues/q/tasks", b'{"payload":"' + b"x" * (MIB + 1) + b'"}'), 413, "TOOLARGE")

    def test_many_members_and_deep_nesting_take_no_memory(self):
        before = self.server.memory_peak()
        self.assert_refused(self.post("/v1/lease", b"{" + b'"worker":"w",' * 300_000 + b"}"))
        self.assert_refused(self.post("/v1/lease", b'{"queues":[' + b'"q",' * 900_000 + b'"q"]}'), 400, "INVALID")
        self.assert_refused(self.post("/v1/lease", b"[" * 4_000_000))
        self.assert_refused(self.post("/v1/lease", b'{"worker":' * 400_000))
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(64 * MIB))

    # --- time ---

    def test_slow_heads_and_bodies_are_answered_and_closed(self):
        for begin in (b"GET /hea", b"POST /v1/lease HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
                      b"POST /v1/lease HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1"):
            client = self.connect()
            client.send(begin)
            answer = Answer(client)
            self.assertEqual((answer.status, answer.code), (408, "ERR"))
            self.assertTrue(client.is_closed_by_server())

    def test_a_byte_now_and_then_is_no_progress(self):
        client = self.connect()
        client.socket.settimeout(0.1)
        client.send(b"GET /healthz HTTP/1.1\r\nA: ")
        began = time.monotonic()
        data = b""
        while not data:
            try:
                client.send(b"x")
                data = client.socket.recv(1 << 16)
            except TimeoutError:
                self.assertLess(time.monotonic() - began, 30)
        self.assertIn(b"408", data)

    def test_an_idle_connection_stays(self):
        client = self.connect()
        client.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertEqual(Answer(client).status, 200)
        time.sleep(3.5)  # longer than a request may take to arrive
        client.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertEqual(Answer(client).status, 200)

    # --- what is asked ---

    def test_methods(self):
        for method in (b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE", b"CONNECT", b"GET", b"BREW"):
            answer = self.assert_refused(method + b" /v1/lease HTTP/1.1\r\nHost: x\r\n\r\n", 405)
            self.assertIn("Allow: POST\r\n", answer.head)
        self.assert_refused(b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404, "NOTFOUND")
        client = self.connect()
        client.send(b"HEAD /v1/lease HTTP/1.1\r\nHost: x\r\n\r\n" b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        first = b""
        while not first.endswith(b"\r\n\r\n"):
            first += client._take(1)
        self.assertIn(b" 405 ", first)
        self.assertEqual(Answer(client).status, 200, "HEAD's answer has no body")

    def test_paths(self):
        for path in ("//", "/v1", "/v1/", "/v1/tasks/", "//healthz", "/healthz/", "/v1/../healthz", "/./healthz",
                     "/v1%2Fqueues", "/v1/queues%00", "/v1/tasks//history", "/v1/event", "/v1/events/", "/metrics/", "/healthz%20",
                     "/v1/locks/a/b/c", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd"):
            self.assert_refused(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), 404, "NOTFOUND")
        for path in ("/%", "/v1/tasks/%zz", "/v1/tasks/%4", "/v1/queues?count=%", "/v1/queues?nonsense=1", "/v1/queues?count=",
                     "/v1/queues?count=1&count=1", "/v1/queues?count=1.0", "/healthz?x=1"):
            self.assert_refused(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        for path in ("/v1/tasks/%ff", "/v1/tasks/%00", "/v1/tasks/" + "x" * 256, "/v1/queues?count=0", "/v1/queues?count=1001",
                     "/v1/queues?cursor=x", "/v1/locks/a::b/c", "/v1/queues/q/tasks?state=dead"):
            self.assert_refused(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), 400, "INVALID")

    def test_bodies_that_are_no_object(self):
        for body in (b"", b"{", b"nonsense", b"[]", b"null", b'"x"', b"{}{}", b"{'worker':'w'}", b'{"worker":"\xff"}',
                     b'{"worker":"\\ud800"}', b"\xef\xbb\xbf{}", b'{"worker":"w",}', b"\x00", b"worker=w&queues=q"):
            self.assert_refused(self.post("/v1/lease", body))

    def test_members_of_the_wrong_type(self):
        for member in (b'"count":"1"', b'"count":1.0', b'"count":1e3', b'"count":null', b'"count":true', b'"count":[1]',
                       b'"count":{}', b'"worker":1', b'"worker":null', b'"queues":"q"', b'"queues":[1]', b'"queues":[["q"]]',
                       b'"nonsense":1', b'"COUNT":1', b'"worker":"w","worker":"w"'):
            answer = self.assert_refused(self.post("/v1/lease", b"{" + member + b"}"))
            self.assertIn("expected", answer.body["error"]["message"])
            self.assertIn("found", answer.body["error"]["message"])
        for member in (b'"count":0', b'"count":99999999999999999999', b'"queues":[]', b'"queues":[""]', b'"worker":""',
                       b'"worker":"a\\u0000b"', b'"lease_ms":0', b'"lease_ms":86400001'):
            self.assert_refused(self.post("/v1/lease", b"{" + member + b"}"), 400, "INVALID")

    def test_arguments_in_the_wrong_place(self):
        self.assert_refused(self.post("/v1/queues/q/pause?x=1", b""))
        self.assert_refused(self.post("/v1/queues/q/pause", b'{"queue":"q"}'))
        self.assert_refused(b"GET /v1/queues HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")

    def test_a_page_of_another_origin(self):
        for origin in ("http://evil.example", "https://x.evil.example", "null", "file://", "http://x:1"):
            self.assert_refused(self.post("/v1/queues/q/pause", b"", f"Origin: {origin}"), 403, "NOPERM")
        client = self.connect()
        client.send(self.post("/v1/queues/q/pause", b"", "Origin: http://x"))
        self.assertEqual(Answer(client).status, 200)

    def test_pipelined_requests_are_answered_in_order(self):
        client = self.connect()
        client.send(b"".join(b"GET /v1/tasks/%d HTTP/1.1\r\nHost: x\r\n\r\n" % i for i in range(500)))
        for i in range(500):
            self.assertIn(f"'{i}'", Answer(client).body["error"]["message"])

    def test_who_sends_more_and_more_behind_a_wait_is_cut_off(self):
        client = self.connect()
        client.send(self.post("/v1/lease", b'{"worker":"w","queues":["q"],"block_ms":60000}'))
        with self.assertRaises((ConnectionError, AssertionError)):
            for _ in range(1000):
                client.send(b"x" * 65536)
            raise AssertionError("it was not cut off")
        self.assertTrue(client.is_closed_by_server())


class Connections(unittest.TestCase):
    def test_the_limit_is_shared(self):
        with Tenured("--connections", "3") as server:
            with server.connect() as redis, Client(server.http_port) as first, Client(server.http_port) as second:
                self.assertEqual(redis.ask("PING"), "PONG")
                for client in (first, second):
                    client.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                    self.assertEqual(Answer(client).status, 200)
                with Client(server.http_port) as third:
                    answer = Answer(third)
                    self.assertEqual((answer.status, answer.code), (429, "BACKPRESSURE"))
                    self.assertTrue(third.is_closed_by_server())


if __name__ == "__main__":
    tenured.main()
