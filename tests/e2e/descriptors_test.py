"""A server that has run out of file descriptors serves whom it has, and lets others in when some have left."""

import os
import unittest

import tenured
from tenured import Tenured

LIMITED = ("sh", "-c", 'ulimit -n 64; exec "$@"', "sh")
# Root may raise any limit: without that capability it cannot.
WITHOUT_RAISING = ("setpriv", "--bounding-set", "-sys_resource")
BEFORE = LIMITED if os.getuid() else WITHOUT_RAISING + LIMITED


class Descriptors(unittest.TestCase):
    def test_running_out_of_them_is_survived(self):
        with Tenured("--connections", "1000", before=BEFORE) as server:
            first = server.connect()
            clients = [server.connect() for _ in range(100)]
            self.assertEqual(first.ask("PING"), "PONG", "who is connected is served")
            for client in clients[:80]:
                client.close()
            for client in clients[80:]:
                self.assertEqual(client.ask("PING"), "PONG", "who waited comes in when others have left")
            for client in clients[80:] + [first]:
                client.close()
            server.await_log("who wants to connect waits")

    def test_the_journal_goes_on(self):
        """It opens a file now and then, and has failed if it cannot."""
        with Tenured("--connections", "1000", "--segment-bytes", "1mb", "--snapshot-bytes", "4mb", before=BEFORE) as server:
            first = server.connect()
            clients = [server.connect() for _ in range(100)]
            server.await_log("who wants to connect waits")
            for _ in range(100):
                self.assertEqual(first.ask("TASK.SUBMIT", "q", "x" * 100_000)[1], "CREATED")
            for client in [*clients, first]:
                client.close()


if __name__ == "__main__":
    tenured.main()
