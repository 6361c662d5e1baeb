"""/v1/events: every record once, in order and without its secrets, to whoever listens, comes again, or is too slow."""

import json
import random
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import sanitized
import tenured
from tenured import Tenured, in_thread


class Listener(tenured.Client):
    """One connection that listens. `last_id` is where the next one goes on."""

    def __init__(self, server, last_id=None, version="1.1", **options):
        super().__init__(server.http_port, **options)
        self.raw = b""
        self.body = b""
        self.last_id = last_id
        self.comments = 0
        self.has_ended = False  # as it should, not cut off
        field = "" if last_id is None else f"Last-Event-ID: {last_id}\r\n"
        self.send(f"GET /v1/events HTTP/{version}\r\nHost: x\r\n{field}\r\n".encode())
        self.head = {}
        self.status = self._line().decode()
        while line := self._line().decode():
            name, value = line.split(": ", 1)
            self.head[name.lower()] = value
        # The first block tells where it begins: from then on nothing is missed.
        if self.status == "HTTP/1.1 200 OK":
            self.first = self.block()

    def block(self):
        """The fields of the next one: an event, or an id alone. EOFError: the stream is over."""
        while True:
            while b"\n\n" not in self.body:
                self._chunk()
            text, self.body = self.body.split(b"\n\n", 1)
            if text == b":":
                self.comments += 1
                continue
            fields = dict(line.split(": ", 1) for line in text.decode().split("\n"))
            self.last_id = fields["id"]
            return fields

    def event(self):
        fields = self.block()
        data = json.loads(fields["data"])
        assert data["record"] == fields["event"], fields
        return data

    def await_comment(self):
        while b":\n\n" not in self.body:
            self._chunk()
        self.comments += 1
        self.body = self.body.replace(b":\n\n", b"", 1)

    def rest(self):
        """All that is still to come: the types of events."""
        types = []
        try:
            while True:
                types.append(self.block().get("event"))
        except (EOFError, ConnectionError):
            return types

    def _chunk(self):
        if "transfer-encoding" not in self.head:
            taken = self.input
            self.input = b""
            if not taken:
                self._more()
                return
        else:
            size = int(self._line(), 16)
            taken = self._take(size + 2)[:-2]
            if size == 0:
                self.has_ended = True
                raise EOFError("the stream has ended")
        self.raw += taken
        self.body += taken


def place(identity):
    """Ids in their order: 17.1, 17.2, 17, 18."""
    frame, _, record = identity.partition(".")
    return int(frame), int(record or 1 << 40)


class Events(unittest.TestCase):
    def serve(self, *flags, **options):
        server = Tenured(*flags, **options)
        self.addCleanup(server.__exit__)
        return server

    def listen(self, server, *args, **options):
        listener = Listener(server, *args, **options)
        self.addCleanup(listener.close)
        return listener

    def connect(self, server):
        client = server.connect()
        self.addCleanup(client.close)
        return client

    def test_what_is_recorded_is_told_in_its_order(self):
        server = self.serve()
        client = self.connect(server)
        client.ask("TASK.SUBMIT", "mail", "before anybody listens")
        one, two = self.listen(server), self.listen(server)
        self.assertEqual(one.head["content-type"], "text/event-stream")
        self.assertEqual(one.head["cache-control"], "no-store")
        self.assertNotIn("event", one.first)
        task = client.ask("TASK.SUBMIT", "mail", "p", "PRIORITY", 9, "ID", "T")[0]
        lease = client.ask("TASK.LEASE", "w", 1, "mail")[0]
        lease = dict(zip(lease[::2], lease[1::2]))
        client.ask("TASK.COMPLETE", task, lease["lease_id"])
        for listener in (one, two):
            seen = [place(listener.last_id)]
            created = listener.event()
            self.assertEqual((created["record"], created["task_id"], created["queue"]), ("TaskCreated", "T", "mail"))
            self.assertLess(abs(created["at"] / 1000 - time.time()), 600)
            seen.append(place(listener.last_id))
            granted = listener.event()
            self.assertEqual((granted["record"], granted["worker_id"], granted["fence"]),
                             ("LeaseGranted", "w", lease["fence"]))
            seen.append(place(listener.last_id))
            self.assertEqual(listener.event()["record"], "TaskCompleted")
            seen.append(place(listener.last_id))
            self.assertEqual(seen, sorted(set(seen)))

    def test_who_comes_again_misses_nothing_and_sees_nothing_twice(self):
        server = self.serve()
        tasks = [f"task {i}" for i in range(1500)]
        dice = random.Random(6)
        listener = self.listen(server)

        def submit():
            with server.connect() as client:
                for begin in range(0, len(tasks), 50):
                    for task in tasks[begin:begin + 50]:
                        client.put("TASK.SUBMIT", "q", "p", "ID", task)
                        client.put("TASK.LEASE", "w", 1, "q", "COUNT", 3)  # frames of several records
                    for _ in range(100):
                        client.reply()

        done = in_thread(submit)
        created, identities, connections = [], [], 1
        leases = 0
        while len(created) < len(tasks) or leases < len(tasks):
            if dice.random() < 0.02:
                listener.close()
                listener = self.listen(server, listener.last_id)
                connections += 1
                self.assertNotIn("event", listener.first)
            event = listener.event()
            identities.append(place(listener.last_id))
            if event["record"] == "TaskCreated":
                created.append(event["task_id"])
            leases += event["record"] == "LeaseGranted"
        done()
        self.assertEqual(created, tasks)
        self.assertEqual(leases, len(tasks))
        self.assertEqual(identities, sorted(set(identities)))
        self.assertGreater(connections, 5)

    def test_a_frame_of_several_records_is_gone_on_with_within_it(self):
        server = self.serve()
        client = self.connect(server)
        listener = self.listen(server)
        for i in range(3):
            client.ask("TASK.SUBMIT", "q", "p", "ID", f"T{i}")
        client.ask("TASK.LEASE", "w", 1, "q", "COUNT", 3)
        identities = []
        while len(identities) < 6:
            event = listener.event()
            identities.append((listener.last_id, event["task_id"]))
        frame = identities[5][0]
        self.assertEqual([identity for identity, _ in identities[3:]], [f"{frame}.1", f"{frame}.2", frame])
        for i in range(2, 5):
            again = self.listen(server, identities[i][0])
            self.assertEqual(again.event()["task_id"], identities[i + 1][1])
            self.assertEqual(again.last_id, identities[i + 1][0])

    def test_what_is_no_longer_known_is_a_gap_after_a_restart_too(self):
        with tempfile.TemporaryDirectory() as folder:
            server = self.serve(folder=folder)
            listener = self.listen(server)
            with server.connect() as client:
                client.ask("QUEUE.PAUSE", "q")
            listener.event()
            last = listener.last_id
            self.assertEqual(server.stop(), 0, server.log())
            server = self.serve(folder=folder)
            client = self.connect(server)
            listener = self.listen(server, last)
            self.assertEqual(listener.first["event"], "gap")
            gap = json.loads(listener.first["data"])
            self.assertEqual(gap["asked_after"], last)
            self.assertEqual(gap["resumed_after"], listener.last_id)
            self.assertGreater(place(listener.last_id), place(last))
            client.ask("QUEUE.RESUME", "q")
            self.assertEqual(listener.event()["record"], "QueueResumed")
            self.assertGreater(place(listener.last_id), place(gap["resumed_after"]))
            # An id of another journal, from beyond the end of this one.
            self.assertEqual(self.listen(server, "999999999").first["event"], "gap")
            self.assertEqual(server.stop(), 0, server.log())

    def test_no_event_has_a_secret(self):
        server = self.serve()
        client = self.connect(server)
        listener = self.listen(server)
        secrets = []

        def secret(word):
            secrets.append(f"{word}-secret-{len(secrets)}")
            return secrets[-1]

        def kept(token):
            secrets.extend([token, token.split("-")[-1]])
            return token

        client.ask("CLIENT", "SESSION", secret("session"), "GRACE", 60000)
        for i in range(3):
            client.ask("TASK.SUBMIT", "q", secret("payload"), "REQUEST", secret("request"), "ID", f"T{i}")
        client.ask("TASK.SUBMIT", "q", b"\xff" + secret("payload").encode(), "ID", "T3")
        leases = client.ask("TASK.LEASE", "w", 1, "q", "COUNT", 4, "REQUEST", secret("request"))
        leases = [dict(zip(lease[::2], lease[1::2])) for lease in leases]
        ids = [kept(lease["lease_id"]) for lease in leases]
        client.ask("TASK.EXTEND", "T0", ids[0], "LEASE", 7_200_000)
        client.ask("TASK.COMPLETE", "T0", ids[0], "RESULT", secret("result"))
        client.ask("TASK.COMPLETE", "T0", secret("claimed"))
        client.ask("TASK.FAIL", "T1", ids[1], "a reason is told")
        client.ask("TASK.KILL", "T2", "killed")
        client.ask("TASK.RESUBMIT", "T0", "REQUEST", secret("request"))
        token = kept(client.ask("WORK.ACQUIRE", "d", 1, "LEASE", 60000)[1])
        client.ask("WORK.ACQUIRE", "d", 2)
        client.ask("WORK.EXTEND", "d", token, "LEASE", 7_200_000)
        client.ask("WORK.FAIL", "d", token, "REQUEST", secret("request"))
        client.ask("WORK.SUCCEED", "d", token, "REQUEST", secret("request"))
        for owner in ("me", "me"):
            token = kept(client.ask("LOCK.ACQUIRE", "d", "i", owner, "REQUEST", secret("request"), "BOUND")[0])
        client.ask("LOCK.EXTEND", "d", "i", token, "LEASE", 7_200_000)
        client.ask("LOCK.RELEASE", "d", "i", token, "REQUEST", secret("request"))
        client.ask("LOCK.FORCE", "d", "i")
        client.ask("SNAPSHOT")
        client.ask("QUEUE.PAUSE", "the end")
        types = set()
        while (event := listener.event()).get("queue") != "the end":
            types.add(event["record"])
        self.assertLessEqual({"TaskCreated", "LeaseGranted", "LeaseExtended", "TaskCompleted", "TaskCancelled",
                              "TaskFailed", "TaskDead", "WorkAcquired", "WorkEnqueued", "WorkExtended", "WorkRetried",
                              "WorkSucceeded", "LockGranted", "LockReentered", "LockExtended", "LockReleased",
                              "LockForced"}, types)
        text = listener.raw.decode()
        self.assertIn("a reason is told", text)
        self.assertGreater(len(secrets), 25)
        for word in secrets:
            self.assertNotIn(word, text)
        for word in ("secret", "payload", "result", "lease_id", "token", "request", "session", "digest"):
            self.assertNotIn(f'"{word}', text)

    def test_a_silent_stream_beats(self):
        listener = self.listen(self.serve("--event-heartbeat-ms", "1"))
        for _ in range(2):
            listener.await_comment()
        self.assertEqual(listener.raw.split(b"\n\n", 1)[1], b":\n\n:\n\n")

    def test_who_is_too_slow_is_cut_off_and_told_so_when_it_comes_again(self):
        server = self.serve("--event-bytes", "8192")
        slow = self.listen(server, receive_buffer=4096)
        client = self.connect(server)
        memory = server.memory_peak()
        reason = "r" * 4000
        for i in range(4000):
            client.put("TASK.SUBMIT", "q", "p", "ID", i)
            client.put("TASK.KILL", i, reason)
            if i % 100 == 99:
                for _ in range(200):
                    client.reply()
        types = slow.rest()
        self.assertLess(len(types), 8000)
        self.assertFalse(slow.has_ended)
        server.await_log("it does not take its events")
        self.assertEqual(self.listen(server, slow.last_id).first["event"], "gap")
        # The tasks and their reasons, which are remembered; not the events.
        self.assertLess(server.memory_peak() - memory, sanitized.memory(100 << 20))

    def test_who_takes_nothing_is_cut_off(self):
        server = self.serve("--stalled-ms", "500")
        self.listen(server, receive_buffer=4096)
        client = self.connect(server)
        reason = "r" * 4000
        tasks = 0
        while "it does not take its answers" not in server.log():
            client.ask("TASK.SUBMIT", "q", "p", "ID", tasks)
            client.ask("TASK.KILL", tasks, reason)
            tasks += 1
            self.assertLess(tasks, 100_000)
        self.assertTrue(client.ask("PING"))

    def test_a_stop_ends_streams(self):
        server = self.serve()
        listeners = [self.listen(server), self.listen(server, version="1.0")]
        with server.connect() as client:
            client.ask("QUEUE.PAUSE", "q")
        server.signal(signal.SIGTERM)
        for listener in listeners:
            self.assertEqual(listener.rest()[0], "QueuePaused")
        self.assertTrue(listeners[0].has_ended)
        self.assertEqual(server.wait(), 0, server.log())

    def test_who_hangs_up_is_noticed_and_streams_are_limited(self):
        server = self.serve("--event-streams", "2")
        client = self.connect(server)
        one, _ = self.listen(server), self.listen(server)
        self.assertEqual(self.listen(server).status, "HTTP/1.1 429 Too Many Requests")
        threads = len(server_threads(server))
        one.close()
        deadline = time.monotonic() + tenured.PATIENCE
        while self.listen(server).status != "HTTP/1.1 200 OK":
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(len(server_threads(server)), threads)
        self.assertIn("resp=http", client.ask("CLIENT", "LIST"))

    def test_what_is_asked_wrongly(self):
        server = self.serve()
        self.assertEqual(self.listen(server, "nonsense").status, "HTTP/1.1 400 Bad Request")
        self.assertEqual(self.listen(server, "1.2.3").status, "HTTP/1.1 400 Bad Request")

    def test_old_clients_read_until_the_end(self):
        server = self.serve()
        listener = self.listen(server, version="1.0")
        self.assertNotIn("transfer-encoding", listener.head)
        self.assertEqual(listener.head["connection"], "close")
        with server.connect() as client:
            client.ask("QUEUE.PAUSE", "q")
        self.assertEqual(listener.event()["queue"], "q")

    def test_curl_shows_events_as_they_come(self):
        server = self.serve()
        with subprocess.Popen(["curl", "-sSN", f"http://127.0.0.1:{server.http_port}/v1/events"], text=True,
                              stdout=subprocess.PIPE) as curl:
            timer = threading.Timer(tenured.PATIENCE, curl.kill)
            timer.start()
            self.assertEqual(curl.stdout.readline(), "retry: 1000\n")
            with server.connect() as client:
                client.ask("QUEUE.PAUSE", "q")
            lines = [curl.stdout.readline() for _ in range(5)]
            self.assertRegex("".join(lines), r'^id: \d+\n\nid: \d+\nevent: QueuePaused\ndata: {"record":"QueuePaused",')
            self.assertEqual(server.stop(), 0, server.log())
            self.assertEqual(curl.wait(tenured.PATIENCE), 0)
            timer.cancel()


def server_threads(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return range(int(re.search(r"Threads:\s+(\d+)", status.read())[1]))


if __name__ == "__main__":
    tenured.main()
