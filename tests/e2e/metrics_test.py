"""What /metrics and INFO say after work that is known: the same, and what has happened; and that alerts and the
dashboard look at metrics that there are."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest
import urllib.request

import tenured
from tenured import Failed, Tenured, in_thread

PROMTOOL = os.environ["PROMTOOL"]
DOCS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs"
NAMES_SHOWN = 50
SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def promtool(*words, text=None):
    return subprocess.run([PROMTOOL, *words], input=text, capture_output=True, text=True, timeout=60, check=False)


def scrape(server):
    """The text."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.http_port}/metrics", timeout=60) as reply:
        assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4"), reply.headers
        return reply.read().decode()


def samples_of(text):
    """{(name, (label, value), ...): number}"""
    samples = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.match(line).groups()
        key = (name, *LABEL.findall(labels or ""))
        assert key not in samples, f"told twice: {line}"
        samples[key] = float(value)
    return samples


def info_of(client, *sections):
    """{field: text}, of all sections."""
    fields = {}
    for line in client.ask("INFO", *sections).split("\r\n"):
        if ":" in line:
            field, value = line.split(":", 1)
            fields[field] = value
    return fields


def escaped(name):
    return "".join(f"%{ord(c):02X}" if c in ":,=%" else c for c in name)


def in_info(key):
    """Where INFO tells a sample: the field, and the part of it (None: all of it)."""
    name, *labels = key
    kind = re.search(r"_(bucket|count|sum)$", name)
    is_histogram = kind and name not in ("tenure_batch_frames",)
    base = name[:kind.start()] if is_histogram else name
    field = re.sub(r"^tenure_|_total$", "", base)
    if labels and labels[0][0] in ("queue", "domain"):
        field += "_" + escaped(labels[0][1])
        labels = labels[1:]
    parts = [value for _, value in labels]
    if is_histogram:
        parts.append(kind[1])
    return field, "_".join(parts) or None


def settled(samples):
    """Without what changes by being looked at, and what INFO leaves out."""
    changing = ("tenure_build_info", "tenure_connections", "tenure_connections_accepted_total", "tenure_buffer_bytes",
                "tenure_disk_free_bytes")
    return {key: value for key, value in samples.items() if not key[0].endswith("_bucket") and key[0] not in changing}


class Metrics(unittest.TestCase):
    def assert_same(self, server, client):
        """INFO and /metrics. The journal may vouch for its last batch between them: then once more."""
        deadline = time.monotonic() + tenured.PATIENCE
        before, after, info = None, samples_of(scrape(server)), None
        while before is None or settled(before) != settled(after):
            self.assertLess(time.monotonic(), deadline, "it never comes to rest")
            before, info, after = after, info_of(client), samples_of(scrape(server))
        for key, value in settled(after).items():
            field, part = in_info(key)
            self.assertIn(field, info, key)
            told = info[field]
            if part:
                told = dict(each.split("=") for each in told.split(","))[part]
            self.assertAlmostEqual(float(told), value, msg=str(key))

    def test_promtool_has_nothing_to_say(self):
        with Tenured() as server, server.connect() as client:
            client.ask("LOCK.ACQUIRE", 'd"\\', "x", "me")
            client.ask("TASK.SUBMIT", "é{}", "p")
            found = promtool("check", "metrics", text=scrape(server))
        self.assertEqual((found.returncode, found.stdout, found.stderr), (0, "", ""))

    def test_tasks_are_counted(self):
        with Tenured() as server, server.connect() as client:
            for i in range(5):
                client.ask("TASK.SUBMIT", "mail", "p", "ID", f"T{i}", "RETRIES", 1)
            client.ask("TASK.SUBMIT", "later", "p", "DELAY", 3600000)
            leases = client.ask("TASK.LEASE", "w", 1, "mail", "COUNT", 4, "LEASE", 60000)
            ids = [dict(zip(lease[::2], lease[1::2])) for lease in leases]
            client.ask("TASK.COMPLETE", "T0", ids[0]["lease_id"])
            client.ask("TASK.FAIL", "T1", ids[1]["lease_id"], "no")
            client.ask("TASK.FAIL", "T2", ids[2]["lease_id"], "no", "FINAL")
            client.ask("TASK.KILL", "T3", "no")
            self.assertEqual(client.ask("TASK.COMPLETE", "T3", ids[3]["lease_id"]), "CANCELLED")
            self.assertEqual(len(client.ask("TASK.LEASE", "w", 1, "mail", "LEASE", 1)), 1)
            while client.ask("TASK.GET", "T4")[5] != "WAITING":
                pass
            found = samples_of(scrape(server))
            self.assert_same(server, client)
        state = lambda queue, word: found["tenure_tasks", ("queue", queue), ("state", word)]
        self.assertEqual([state("mail", word) for word in
                          ("waiting", "delayed", "leased", "completed", "failed", "dead")], [1, 1, 0, 1, 1, 1])
        self.assertEqual(state("later", "delayed"), 1)
        self.assertEqual(state("(other)", "waiting"), 0)
        self.assertEqual(found["tenure_queues",], 2)
        self.assertEqual(found["tenure_tasks_submitted_total",], 6)
        for word in ("completed", "failed", "dead"):
            self.assertEqual(found["tenure_tasks_ended_total", ("state", word)], 1)
        self.assertEqual(found["tenure_leases_granted_total", ("book", "task")], 5)
        self.assertEqual(found["tenure_leases_expired_total", ("book", "task")], 1)
        self.assertEqual(found["tenure_late_reports_refused_total",], 1)
        self.assertEqual(found["tenure_retries_total", ("book", "task")], 1)
        self.assertGreater(found["tenure_book_bytes", ("book", "task")], 0)
        self.assertEqual(found["tenure_book_bytes", ("book", "work")], 0)

    def test_work_and_the_journal_are_counted(self):
        with Tenured() as server, server.connect() as client:
            token = client.ask("WORK.ACQUIRE", "log", 1)[1]
            client.ask("WORK.FAIL", "log", token)
            client.ask("WORK.SUCCEED", "log", token)
            found = samples_of(scrape(server))
            self.assert_same(server, client)
        self.assertEqual(found["tenure_leases_granted_total", ("book", "work")], 1)
        self.assertEqual(found["tenure_retries_total", ("book", "work")], 1)
        self.assertEqual(found["tenure_work_domains",], 1)
        syncs = found["tenure_sync_seconds_count",]
        self.assertGreaterEqual(syncs, 3)  # one for each request, which waited for it; and perhaps one that vouches
        self.assertEqual(found["tenure_sync_seconds_bucket", ("le", "+Inf")], syncs)
        self.assertGreater(found["tenure_sync_seconds_sum",], 0)
        self.assertEqual(found["tenure_batch_frames_count",], syncs)
        self.assertEqual(found["tenure_batch_frames_sum",], found["tenure_durable_frame",])
        self.assertGreater(found["tenure_journal_bytes",], found["tenure_journal_written_bytes_total",])
        self.assertGreater(found["tenure_disk_free_bytes",], 0)
        self.assertEqual(found["tenure_journal_has_room",], 1)

    def test_locks_are_counted_by_domain(self):
        with Tenured() as server, server.connect() as client, server.connect() as other:
            token = client.ask("LOCK.ACQUIRE", "orders", "1", "me", "LEASE", 60000)[0]
            self.assertIsNone(other.ask("LOCK.ACQUIRE", "orders", "1", "you"))
            self.assertIsNone(other.ask("LOCK.ACQUIRE", "orders", "1", "you", "WAIT", 20))
            with self.assertRaises(Failed):
                client.ask("LOCK.ACQUIRE", "orders", "2", "me", "BOUND", "REQUEST", "r" * 300)
            gone = server.connect()
            gone.put("LOCK.ACQUIRE", "orders", "1", "gone", "WAIT", 60000)
            while samples_of(scrape(server))["tenure_waiters", ("kind", "lock")] != 1:
                pass
            gone.close()
            while samples_of(scrape(server))["tenure_waiters", ("kind", "lock")] != 0:
                pass
            client.ask("LOCK.ACQUIRE", "orders", "short", "me", "LEASE", 1)
            while client.ask("LOCK.GET", "orders", "short"):
                pass
            client.ask("LOCK.RELEASE", "orders", "1", token)
            client.ask("LOCK.ACQUIRE", "users", "1", "me", "LEASE", 60000)
            found = samples_of(scrape(server))
            self.assert_same(server, client)
        attempts = lambda result: found["softlock_acquire_attempts_total", ("domain", "orders"), ("result", result)]
        self.assertEqual([attempts(result) for result in ("acquired", "timeout", "interrupted")], [2, 2, 1])
        self.assertEqual(found["softlock_acquire_seconds_count", ("domain", "orders"), ("result", "timeout")], 2)
        self.assertGreaterEqual(found["softlock_acquire_seconds_sum", ("domain", "orders"), ("result", "timeout")],
                                0.019)
        self.assertEqual(found["softlock_held_time_seconds_count", ("domain", "orders")], 2)
        self.assertEqual(found["softlock_expired_total", ("domain", "orders")], 1)
        self.assertEqual(found["softlock_active", ("domain", "orders")], 0)
        self.assertEqual(found["softlock_active", ("domain", "users")], 1)
        self.assertEqual(found["tenure_leases_granted_total", ("book", "lock")], 3)
        self.assertEqual(found["tenure_leases_expired_total", ("book", "lock")], 1)

    def test_there_is_an_end_to_the_labels(self):
        with Tenured() as server, server.connect() as client:
            for i in range(NAMES_SHOWN * 3):
                client.put("TASK.SUBMIT", f"queue {i:03}", "p")
                client.put("LOCK.ACQUIRE", f"domain {i:03}", "x", "me")
            for _ in range(NAMES_SHOWN * 6):
                client.reply()
            found = samples_of(scrape(server))
            self.assert_same(server, client)
        names = lambda metric, label: {dict(key[1:])[label] for key in found if key[0] == metric}
        self.assertEqual(len(names("tenure_tasks", "queue")), NAMES_SHOWN + 1)
        self.assertEqual(found["tenure_tasks", ("queue", "(other)"), ("state", "waiting")], NAMES_SHOWN * 2)
        for metric in ("softlock_active", "softlock_acquire_attempts_total", "softlock_held_time_seconds_count"):
            self.assertEqual(len(names(metric, "domain")), NAMES_SHOWN + 1, metric)
        self.assertEqual(found["softlock_active", ("domain", "(other)")], NAMES_SHOWN * 2)
        self.assertEqual(found["tenure_queues",], NAMES_SHOWN * 3)
        self.assertEqual(found["tenure_locks",], NAMES_SHOWN * 3)

    def test_a_restart_is_counted_and_what_is_held_is_known(self):
        with tempfile.TemporaryDirectory() as folder:
            for restarts in range(3):
                with Tenured(folder=folder) as server, server.connect() as client:
                    client.ask("LOCK.ACQUIRE", "d", str(restarts), "me", "LEASE", 3600000)
                    found = samples_of(scrape(server))
                    self.assert_same(server, client)
                    self.assertEqual(found["tenure_restarts_total",], restarts)
                    self.assertEqual(found["softlock_active", ("domain", "d")], restarts + 1)
                    self.assertEqual(server.stop(), 0)
        self.assertGreaterEqual(found["tenure_digest_checks_total",], 2, "each stop journals one")
        self.assertGreater(found["tenure_start_time_seconds",], 1.7e9)

    def test_connections_and_waiters(self):
        with Tenured() as server, server.connect() as client, server.connect() as waiter:
            waiter.put("TASK.LEASE", "w", 1, "q", "BLOCK", 60000)
            while samples_of(scrape(server))["tenure_waiters", ("kind", "lease")] != 1:
                pass
            found = samples_of(scrape(server))
            self.assertEqual(found["tenure_connections",], 3)
            self.assertGreaterEqual(found["tenure_connections_accepted_total",], 4)
            self.assertEqual(client.ask("INFO", "server").split("\r\n")[1].split(":")[0], "tenure_version")


class Rules(unittest.TestCase):
    """docs/alerts.yml and docs/grafana-dashboard.json."""

    def metrics(self):
        """Every name that there is, buckets and all."""
        with Tenured() as server, server.connect() as client:
            client.ask("LOCK.ACQUIRE", "d", "x", "me")
            return {key[0] for key in samples_of(scrape(server))}

    def names_in(self, expression):
        return set(re.findall(r"\b(?:tenure|softlock)_[a-z_]+", expression))

    def test_promtool_takes_the_alerts(self):
        found = promtool("check", "rules", str(DOCS / "alerts.yml"))
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    def test_each_alert_fires_when_it_should(self):
        rules = pathlib.Path(__file__).with_name("alerts_test.yml")
        found = promtool("test", "rules", str(rules))
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
        alerts = re.findall(r"- alert: (\w+)", (DOCS / "alerts.yml").read_text())
        self.assertGreater(len(alerts), 10)
        operations = (DOCS / "operations.md").read_text()
        for alert in alerts:
            self.assertIn(f"alertname: {alert}\n", rules.read_text(), "it has no test")
            self.assertIn(f"### {alert}\n", operations, "nobody is told what to do")

    def test_alerts_look_at_metrics_that_there_are(self):
        named = self.names_in((DOCS / "alerts.yml").read_text())
        self.assertGreater(len(named), 10)
        self.assertLessEqual(named, self.metrics())

    def test_the_dashboard_looks_at_metrics_that_there_are(self):
        dashboard = json.loads((DOCS / "grafana-dashboard.json").read_text())
        panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
        self.assertEqual(len({panel["id"] for panel in dashboard["panels"]}), len(dashboard["panels"]))
        metrics = self.metrics()
        for panel in panels:
            for target in panel["targets"]:
                named = self.names_in(target["expr"])
                self.assertTrue(named, panel["title"])
                self.assertLessEqual(named, metrics, panel["title"])

    def test_promtool_understands_the_dashboard(self):
        dashboard = json.loads((DOCS / "grafana-dashboard.json").read_text())
        expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
        rules = [{"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
                 for number, expression in enumerate(expressions)]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)  # JSON is YAML
            file.flush()
            found = promtool("check", "rules", file.name)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)


if __name__ == "__main__":
    tenured.main()
