"""Those who wait: served promptly, first come first served, never when they are gone; sessions and bound locks."""

import selectors
import time
import unittest

import sanitized
import tenured
from tenured import Failed, Tenured, in_thread


def await_waiters(server, count):
    """Until so many connections are blocked."""
    with server.connect() as client:
        deadline = time.monotonic() + tenured.PATIENCE
        while f"blocked_clients:{count}\r\n" not in client.ask("INFO", "clients"):
            assert time.monotonic() < deadline, client.ask("INFO", "clients")


class Waiting(unittest.TestCase):
    def setUp(self):
        self.server = self._enter(Tenured())

    def _enter(self, context):
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def connect(self):
        return self._enter(self.server.connect())

    def test_a_waiter_gets_the_lock_when_it_is_released_in_the_order_of_asking(self):
        holder, first, second = self.connect(), self.connect(), self.connect()
        token = holder.ask("LOCK.ACQUIRE", "d", "i", "a")[0]
        first.put("LOCK.ACQUIRE", "d", "i", "b", "WAIT", "60000")
        await_waiters(self.server, 1)
        second.put("LOCK.ACQUIRE", "d", "i", "c", "WAIT", "60000")
        await_waiters(self.server, 2)
        began = time.monotonic()
        self.assertEqual(holder.ask("LOCK.RELEASE", "d", "i", token), ["RELEASED", 0])
        granted = first.reply()
        self.assertLess(time.monotonic() - began, sanitized.seconds(1))
        self.assertEqual(granted[3], 1)
        first.ask("LOCK.RELEASE", "d", "i", granted[0])
        self.assertGreater(second.reply()[1], granted[1])

    def test_a_waiter_gets_a_task_when_it_is_submitted(self):
        worker, submitter = self.connect(), self.connect()
        worker.put("TASK.LEASE", "w", "2", "urgent", "q", "BLOCK", "60000")
        await_waiters(self.server, 1)
        task = submitter.ask("TASK.SUBMIT", "q", "work")[0]
        self.assertEqual(worker.reply()[0][:2], ["task_id", task])

    def test_a_waiter_gets_a_task_when_its_delay_has_passed(self):
        worker, submitter = self.connect(), self.connect()
        task = submitter.ask("TASK.SUBMIT", "q", "work", "DELAY", "200")[0]
        self.assertEqual(worker.ask("TASK.LEASE", "w", "1", "q", "BLOCK", "60000")[0][1], task)

    def test_who_waits_for_a_task_learns_of_its_end(self):
        client, worker = self.connect(), self.connect()
        task = client.ask("TASK.SUBMIT", "q", "work")[0]
        client.put("TASK.WAIT", task, "BLOCK", "60000")
        await_waiters(self.server, 1)
        lease = worker.ask("TASK.LEASE", "w", "1", "q")[0]
        worker.ask("TASK.COMPLETE", task, lease[3], "RESULT", "well")
        told = client.reply()
        self.assertEqual(dict(zip(told[::2], told[1::2]))["result"], "well")

    def test_a_wait_ends_when_its_time_has_passed(self):
        client, holder = self.connect(), self.connect()
        holder.ask("LOCK.ACQUIRE", "d", "i", "a")
        began = time.monotonic()
        self.assertIsNone(client.ask("LOCK.ACQUIRE", "d", "i", "b", "WAIT", "100"))
        self.assertEqual(client.ask("TASK.LEASE", "w", "1", "q", "BLOCK", "100"), [])
        # The authority counts whole milliseconds: the first of each wait may have begun already.
        self.assertGreaterEqual(time.monotonic() - began, 0.198)

    def test_what_is_behind_a_waiting_request_is_begun_after_it(self):
        client, other = self.connect(), self.connect()
        client.put("TASK.LEASE", "w", "1", "q", "BLOCK", "60000")
        client.put("TASK.SUBMIT", "r", "later", "ID", "later")
        client.put("PING")
        await_waiters(self.server, 1)
        self.assertIsNone(other.ask("TASK.GET", "later"))
        task = other.ask("TASK.SUBMIT", "q", "work")[0]
        self.assertEqual(client.reply()[0][1], task)
        self.assertEqual(client.reply(), ["later", "CREATED"])
        self.assertEqual(client.reply(), "PONG")

    def test_a_waiter_whose_client_died_never_receives_a_grant(self):
        holder, doomed, next_one = self.connect(), self.connect(), self.connect()
        token, fence = holder.ask("LOCK.ACQUIRE", "d", "i", "a")[:2]
        doomed.put("LOCK.ACQUIRE", "d", "i", "b", "WAIT", "60000")
        await_waiters(self.server, 1)
        doomed.close()
        await_waiters(self.server, 0)
        next_one.put("LOCK.ACQUIRE", "d", "i", "c", "WAIT", "60000")
        await_waiters(self.server, 1)
        holder.ask("LOCK.RELEASE", "d", "i", token)
        self.assertEqual(next_one.reply()[1], fence + 1, "nobody was granted it in between")

    def test_a_dead_workers_wait_takes_no_task(self):
        doomed, client = self.connect(), self.connect()
        doomed.put("TASK.LEASE", "dead", "1", "q", "BLOCK", "60000")
        await_waiters(self.server, 1)
        doomed.close()
        await_waiters(self.server, 0)
        task = client.ask("TASK.SUBMIT", "q", "work")[0]
        self.assertEqual(client.ask("TASK.GET", task)[5], "WAITING")

    def test_a_killed_clients_bound_lock_is_free_at_once(self):
        doomed, client = self.connect(), self.connect()
        number = doomed.ask("CLIENT", "ID")
        token = doomed.ask("LOCK.ACQUIRE", "d", "i", "a", "LEASE", "3600000", "BOUND")[0]
        self.assertIsNone(client.ask("LOCK.ACQUIRE", "d", "i", "b"))
        client.put("LOCK.ACQUIRE", "d", "i", "b", "WAIT", "60000")
        await_waiters(self.server, 1)
        with self.server.connect() as killer:
            self.assertEqual(killer.ask("CLIENT", "KILL", "ID", number), 1)
        self.assertEqual(client.reply()[3], 1)
        self.assertTrue(doomed.is_closed_by_server())
        with self.assertRaisesRegex(Failed, "^EXPIRED"):
            client.ask("LOCK.RELEASE", "d", "i", token)

    def test_a_session_outlives_its_connection_by_its_grace(self):
        first, second, other = self.connect(), self.connect(), self.connect()
        self.assertEqual(first.ask("CLIENT", "SESSION", "s", "GRACE", "60000"), "OK")
        token = first.ask("LOCK.ACQUIRE", "d", "i", "a", "LEASE", "3600000", "BOUND")[0]
        first.close()
        self.assertEqual(second.ask("CLIENT", "SESSION", "s"), "OK")
        self.assertIsNone(other.ask("LOCK.ACQUIRE", "d", "i", "b"))
        self.assertEqual(second.ask("LOCK.RELEASE", "d", "i", token), ["RELEASED", 0])

    def test_an_unbound_lock_stays_when_its_client_goes(self):
        doomed, client = self.connect(), self.connect()
        doomed.ask("LOCK.ACQUIRE", "d", "i", "a", "LEASE", "3600000")
        doomed.close()
        self.assertIsNone(client.ask("LOCK.ACQUIRE", "d", "i", "b"))

    def test_a_thousand_waiters_cost_no_thread(self):
        holder = self.connect()
        token = holder.ask("LOCK.ACQUIRE", "d", "i", "holder")[0]
        waiters = [self.connect() for _ in range(1000)]
        for number, waiter in enumerate(waiters):
            waiter.put("LOCK.ACQUIRE", "d", "i", f"owner {number}", "WAIT", "600000")
        await_waiters(self.server, 1000)
        with open(f"/proc/{self.server.process.pid}/status", encoding="ascii") as status:
            threads = next(int(line.split()[1]) for line in status if line.startswith("Threads:"))
        self.assertLess(threads, 10 + sanitized.MORE_THREADS)

        def pass_on():
            # The server may have read them in another order than they were sent: whoever is granted is heard.
            holder.ask("LOCK.RELEASE", "d", "i", token)
            fences = []
            with selectors.DefaultSelector() as selector:
                for waiter in waiters:
                    selector.register(waiter.socket, selectors.EVENT_READ, waiter)
                while len(fences) < len(waiters):
                    granted = selector.select(tenured.PATIENCE)
                    self.assertEqual(len(granted), 1, f"after {len(fences)} grants")
                    waiter = granted[0][0].data
                    selector.unregister(waiter.socket)
                    next_token, fence = waiter.reply()[:2]
                    fences.append(fence)
                    waiter.ask("LOCK.RELEASE", "d", "i", next_token)
            return fences

        fences = in_thread(pass_on)()
        self.assertEqual(len(set(fences)), 1000)
        self.assertEqual(fences, sorted(fences))


if __name__ == "__main__":
    tenured.main()
