"""The log: one line for each event, whatever clients send; refused requests by their connection; no secrets."""

import json
import re
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import tenured
from tenured import FREE_PORTS, PROGRAM, Failed, Tenured

LINE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info|warning|error) ([a-z_.]+)((?: [a-z_]+="
                  r'(?:[^" ]+|"(?:[^"\\]|\\.)*"))*)$')


class Lines(unittest.TestCase):
    def refuse(self, client, *words):
        with self.assertRaises(Failed):
            client.ask(*words)

    def test_a_refused_request_is_found_by_its_connection(self):
        with Tenured() as server, server.connect() as first, server.connect() as second:
            number = second.ask("CLIENT", "ID")
            port = second.socket.getsockname()[1]
            self.refuse(first, "NO.SUCH.VERB")
            self.refuse(second, "TASK.COMPLETE", "none", "1-0000000000000000")
            self.refuse(second, "TASK.LEASE", "w", "0")
            server.await_log(f"client={number} address=127.0.0.1:{port} user=\"\" verb=TASK.COMPLETE code=NOTASK")
            server.await_log(f"client={number} address=127.0.0.1:{port} user=\"\" verb=TASK.LEASE code=ERR")
            server.await_log('verb="" code=ERR')
            with self.assertRaises(urllib.error.HTTPError):
                urllib.request.urlopen(f"http://127.0.0.1:{server.http_port}/v1/tasks/none", timeout=60)
            server.await_log("verb=TASK.GET code=NOTASK")
            with self.assertRaises(urllib.error.HTTPError):
                urllib.request.urlopen(f"http://127.0.0.1:{server.http_port}/nowhere", timeout=60)
            server.await_log('verb="" code=NOTFOUND')
            told = [line for line in server.lines if "request.refused" in line]
            self.assertEqual(len(told), 5)

    def test_every_line_is_one_event(self):
        with tempfile.TemporaryDirectory(prefix='new\nline "quoted" ') as folder:
            with Tenured("--log-level", "debug", folder=folder + "/data") as server, server.connect() as client:
                forged = "x\r\n2026-05-01T12:00:00.000Z info stopped client=1"
                for words in ([forged], ["TASK.GET", forged], ["TASK.SUBMIT", forged, forged],
                              ["LOCK.ACQUIRE", forged, forged, forged], ["AUTH", forged, forged],
                              ["CLIENT", "SETNAME", forged], ["CLIENT", "SESSION", forged]):
                    try:
                        client.ask(*words)
                    except Failed:
                        pass
                server.stop()
                for line in server.lines:
                    self.assertRegex(line, LINE)
                self.assertEqual(len([line for line in server.lines if "Z info stopped" in line]), 1)

    def test_json(self):
        with Tenured("--log-format", "json") as server, server.connect() as client:
            number = client.ask("CLIENT", "ID")
            self.refuse(client, "TASK.KILL", "none", "why")
            server.await_log("request.refused")
            server.stop()
            events = [json.loads(line) for line in server.lines]
        for event in events:
            self.assertRegex(event["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertIn(event["level"], ("info", "warning", "error"))
        refused = [event for event in events if event["event"] == "request.refused"]
        self.assertEqual([(each["client"], each["verb"], each["code"]) for each in refused],
                         [(number, "TASK.KILL", "NOTASK")])
        self.assertEqual(events[-1]["event"], "stopped")

    def test_a_flood_of_refusals_does_not_fill_the_disk(self):
        count = 5000
        with Tenured() as server, server.connect() as client:
            began = time.monotonic()
            client.send(tenured.request("TASK.GET") * count)
            for _ in range(count):
                with self.assertRaises(Failed):
                    client.reply()
            deadline = time.monotonic() + tenured.PATIENCE
            while True:
                told = len(re.findall(r" request\.refused ", server.log()))
                left_out = sum(map(int, re.findall(r"request\.refused\.more count=(\d+)", server.log())))
                if told + left_out == count:
                    break
                self.assertLess(time.monotonic(), deadline, (told, left_out))
                time.sleep(0.05)
            self.assertLess(told, 50 + 10 * (time.monotonic() - began) + 1)
            info = client.ask("INFO", "clients")
        self.assertIn("ERR=5000,", re.search(r"requests_refused:(.*)", info)[1])

    def test_debug_tells_of_all(self):
        count = 200
        with Tenured("--log-level", "debug") as server, server.connect() as client:
            number = client.ask("CLIENT", "ID")
            client.send(tenured.request("TASK.GET") * count)
            for _ in range(count):
                with self.assertRaises(Failed):
                    client.reply()
            client.close()
            server.await_log(f"client.closed client={number} ")
            self.assertEqual(len(re.findall(r" request\.refused ", server.log())), count)
            self.assertRegex(server.log(), rf"client\.connected client={number} address=\S+ protocol=resp")

    def test_nothing_secret_is_in_the_log(self):
        with Tenured("--log-level", "debug") as server, server.connect() as client:
            client.ask("TASK.SUBMIT", "q", "secret-payload", "ID", "T")
            lease = client.ask("TASK.LEASE", "w", 1, "q")[0]
            lease_id = dict(zip(lease[::2], lease[1::2]))["lease_id"]
            token = client.ask("LOCK.ACQUIRE", "d", "x", "me")[0]
            self.refuse(client, "TASK.COMPLETE", "other", lease_id)
            self.refuse(client, "LOCK.RELEASE", "d", "y", token)
            self.refuse(client, "AUTH", "secret-name", "secret-password")
            self.refuse(client, "secret-password")
            self.refuse(client, "TASK.SUBMIT", "q", "secret-payload", "secret-option")
            with self.assertRaises(urllib.error.HTTPError):
                urllib.request.urlopen(f"http://127.0.0.1:{server.http_port}/v1/tasks/T?token=secret-token", timeout=60)
            client.ask("TASK.COMPLETE", "T", lease_id, "RESULT", "secret-result")
            with socket.create_connection(("127.0.0.1", server.port)) as rude:
                rude.sendall(b"*1\r\n$secret-bytes\r\n")
                while rude.recv(4096):
                    pass
            server.stop()
            self.assertIn("request.refused", server.log())
            for secret in ("secret", lease_id, token):
                self.assertNotIn(secret, server.log())

    def test_levels(self):
        run = lambda *flags: subprocess.run([PROGRAM, *FREE_PORTS, "--bind", "nowhere", *flags], capture_output=True,
                                            text=True, timeout=60, check=False)
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn(" info starting ", run("--data", folder).stderr)
            told = run("--data", folder, "--log-level", "error").stderr.splitlines()
            self.assertEqual(len(told), 1, told)
            self.assertIn(" error not_started ", told[0])
        self.assertIn("--log-level", run("--log-level", "loud").stderr)
        self.assertIn("--log-format", run("--log-format", "xml").stderr)


if __name__ == "__main__":
    tenured.main()
