"""redis-py with its defaults: RESP2 and RESP3 handshakes, pipelines, blocking with timeouts."""

import threading
import unittest

import redis

import tenured
from tenured import Tenured


class RedisPy:
    """What holds for both protocols."""

    def setUp(self):
        self.server = Tenured()
        self.addCleanup(self.server.__exit__)
        self.client = self.connect()

    def connect(self, **options):
        client = redis.Redis(port=self.server.port, decode_responses=True, protocol=self.protocol, **options)
        self.addCleanup(client.close)
        return client

    def ask(self, *words):
        return self.client.execute_command(*words)

    def test_connects_with_its_defaults(self):
        self.assertTrue(self.client.ping())
        self.assertEqual(self.client.echo("hello"), "hello")
        named = self.connect(client_name="somebody")
        self.assertEqual(named.client_getname(), "somebody")
        self.assertTrue(any(row["lib-name"] == "redis-py" for row in self.client.client_list()))
        self.assertIn("tenure_version", self.client.info())
        self.assertEqual(self.client.config_get("waiters"), {"waiters": "10000"})
        self.assertGreater(self.client.time()[0], 0)

    def test_a_whole_life_of_a_task(self):
        task, verdict = self.ask("TASK.SUBMIT", "mail", b"\x00\xff binary".decode("latin-1"))
        self.assertEqual(verdict, "CREATED")
        lease = self.map(self.ask("TASK.LEASE", "w", 1, "mail")[0])
        self.assertEqual(lease["task_id"], task)
        self.assertIsInstance(lease["fence"], int)
        self.assertEqual(self.ask("TASK.COMPLETE", task, lease["lease_id"], "RESULT", "done"), "COMMITTED")
        status = self.map(self.ask("TASK.GET", task))
        self.assertEqual((status["state"], status["result"], status["worker"]), ("COMPLETED", "done", None))
        self.assertIsNone(self.ask("TASK.GET", "nothing"))

    def test_pipelines_keep_their_order(self):
        pipeline = self.client.pipeline(transaction=False)
        for i in range(2000):
            pipeline.execute_command("TASK.SUBMIT", "q", f"payload {i}", "ID", f"task {i}")
            pipeline.echo(f"{i}")
        answers = pipeline.execute()
        self.assertEqual(answers[0::2], [[f"task {i}", "CREATED"] for i in range(2000)])
        self.assertEqual(answers[1::2], [f"{i}" for i in range(2000)])

    def test_an_error_in_a_pipeline_is_its_own(self):
        pipeline = self.client.pipeline(transaction=False)
        pipeline.execute_command("LOCK.ACQUIRE", "d", "i", "me")
        pipeline.execute_command("LOCK.RELEASE", "d", "i", "wrong")
        pipeline.ping()
        grant, error, pong = pipeline.execute(raise_on_error=False)
        self.assertEqual(grant[3], 1)
        self.assertIsInstance(error, redis.ResponseError)
        self.assertTrue(str(error).startswith("NOTHELD"), error)
        self.assertTrue(pong)

    def test_blocks_until_something_comes_or_the_time_has_passed(self):
        self.assertEqual(self.ask("TASK.LEASE", "w", 1, "q", "BLOCK", 50), [])
        other = self.connect()
        timer = threading.Timer(0.1, lambda: other.execute_command("TASK.SUBMIT", "q", "work"))
        timer.start()
        self.assertEqual(self.map(self.ask("TASK.LEASE", "w", 1, "q", "BLOCK", 60000)[0])["payload"], "work")
        timer.join()

    def test_a_client_that_gives_up_waiting_takes_nothing(self):
        hasty = self.connect(socket_timeout=0.2)
        with self.assertRaises(redis.TimeoutError):
            hasty.execute_command("TASK.LEASE", "hasty", 1, "q", "BLOCK", 60000)
        while self.client.info("clients")["blocked_clients"]:
            pass
        task = self.ask("TASK.SUBMIT", "q", "work")[0]
        self.assertEqual(self.map(self.ask("TASK.GET", task))["state"], "WAITING")


class Resp2(RedisPy, unittest.TestCase):
    protocol = 2

    @staticmethod
    def map(reply):
        return dict(zip(reply[::2], reply[1::2]))


class Resp3(RedisPy, unittest.TestCase):
    protocol = 3

    @staticmethod
    def map(reply):
        assert isinstance(reply, dict), reply
        return reply


if __name__ == "__main__":
    tenured.main()
