"""Every route of /openapi.json asked with curl, and every response validated against it."""

import json
import re
import signal
import subprocess
import time
import unittest

import jsonschema

import tenured
from tenured import Tenured, in_thread


def plain_schema(schema):
    """OpenAPI 3.0's schema as JSON Schema: nullable is a type more."""
    if isinstance(schema, list):
        return [plain_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: plain_schema(part) for name, part in schema.items() if name != "nullable"}
    if schema.get("nullable") is True:
        plain["type"] = [schema["type"], "null"]
    return plain


class Description:
    """/openapi.json: which operation a request is, and what its response must look like."""

    def __init__(self, document):
        self.document = plain_schema(document)
        self.operations = {}
        for path, methods in self.document["paths"].items():
            pattern = re.compile(re.sub(r"\{[a-z_]+\}", "[^/]+", path))
            for method, operation in methods.items():
                self.operations[method.upper(), path] = (pattern, operation)
        self.seen = set()

    def check(self, method, target, status, body, request=None):
        for (known, path), (pattern, operation) in self.operations.items():
            if known == method and pattern.fullmatch(target.split("?")[0]):
                self.seen.add((known, path))
                response = operation["responses"].get(str(status)) or operation["responses"][f"{status // 100}XX"]
                self.validate(next(iter(response["content"].values()))["schema"], body)
                if status == 200 and request:
                    self.validate(operation["requestBody"]["content"]["application/json"]["schema"], request)
                return
        assert status in (404, 405), (method, target, status)
        self.validate(self.document["components"]["schemas"]["Error"], body)

    def validate(self, schema, body):
        jsonschema.Draft4Validator({**schema, "components": self.document["components"]}).validate(body)


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Tenured()
        cls.url = f"http://127.0.0.1:{cls.server.http_port}"
        cls.description = Description(json.loads(cls.curl("/openapi.json")[1]))

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    @classmethod
    def curl(cls, target, *flags):
        """Status and body."""
        found = subprocess.run(["curl", "-sS", "--path-as-is", "-w", "\n%{http_code}", *flags, cls.url + target],
                               capture_output=True, text=True, timeout=60, check=True)
        body, status = found.stdout.rsplit("\n", 1)
        return int(status), body

    def ask(self, method, target, body=None, expect=200):
        flags = ["-X", method]
        if body is not None:
            flags += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
        status, text = self.curl(target, *flags)
        reply = json.loads(text)
        self.assertEqual(status, expect, text)
        self.description.check(method, target, status, reply, body)
        return reply

    def get(self, target, expect=200):
        return self.ask("GET", target, expect=expect)

    def post(self, target, body=None, expect=200):
        return self.ask("POST", target, body, expect=expect)

    def code(self, method, target, body=None, expect=400):
        return self.ask(method, target, body, expect=expect)["error"]["code"]

    def test_the_description_is_openapi(self):
        document = self.description.document
        self.assertEqual(document["openapi"], "3.0.3")
        identities = [operation["operationId"] for _, operation in self.description.operations.values()]
        self.assertEqual(len(identities), len(set(identities)))
        for (method, path), (_, operation) in self.description.operations.items():
            names = [each["name"] for each in operation.get("parameters", []) if each["in"] == "path"]
            self.assertEqual(sorted(names), sorted(re.findall(r"\{([a-z_]+)\}", path)), (method, path))
            for response in operation["responses"].values():
                for content in response["content"].values():
                    jsonschema.Draft4Validator.check_schema(content["schema"])

    def test_tasks(self):
        self.assertEqual(self.post("/v1/queues/mail/tasks", {"payload": "hi", "id": "T", "request_id": "R"}),
                         {"task_id": "T", "verdict": "CREATED"})
        self.assertEqual(self.post("/v1/queues/mail/tasks", {"payload": "hi", "id": "T", "request_id": "R"})["verdict"],
                         "EXISTING")
        self.assertEqual(self.code("POST", "/v1/queues/mail/tasks", {"payload": "", "id": "T"}, 409), "TASKEXISTS")
        self.assertEqual(self.get("/v1/queues/mail/tasks")["tasks"][0]["task_id"], "T")
        lease, = self.post("/v1/lease", {"worker": "w", "queues": ["mail"], "count": 1, "lease_ms": 60000})["leases"]
        self.assertEqual(lease["payload"], "hi")
        self.assertEqual(self.post("/v1/lease", {"worker": "w", "queues": ["mail"]}), {"verdict": "NONE", "leases": []})
        self.assertEqual(self.get("/v1/tasks/T")["state"], "LEASED")
        mine = {"lease_id": lease["lease_id"]}
        self.assertEqual(self.post("/v1/tasks/T/extend", mine)["verdict"], "EXTENDED")
        self.assertEqual(self.post("/v1/tasks/T/extend", {"lease_id": "x"}), {"verdict": "CANCELLED"})
        self.assertEqual(self.get("/v1/tasks/T/wait?block_ms=1"), {"verdict": "NONE"})
        self.assertEqual(self.post("/v1/tasks/T/complete", {**mine, "result_base64": "/w=="}), {"verdict": "COMMITTED"})
        self.assertEqual(self.get("/v1/tasks/T/wait")["result_base64"], "/w==")
        self.assertEqual(len(self.get("/v1/tasks/T/history")["attempts"]), 1)
        again = self.post("/v1/tasks/T/resubmit")["task_id"]
        lease, = self.post("/v1/lease", {"worker": "w", "queues": ["mail"]})["leases"]
        self.assertEqual(self.post(f"/v1/tasks/{again}/fail", {"lease_id": lease["lease_id"], "reason": "no"}),
                         {"verdict": "COMMITTED", "state": "WAITING"})
        self.assertEqual(self.post(f"/v1/tasks/{again}/kill", {"reason": "enough"}), {"verdict": "OK"})
        self.assertEqual(self.code("POST", f"/v1/tasks/{again}/kill", {"reason": "more"}, 409), "TERMINAL")
        self.assertEqual(self.code("GET", "/v1/tasks/unknown", expect=404), "NOTASK")
        self.assertEqual(self.code("GET", "/v1/tasks/unknown/history", expect=404), "NOTASK")
        self.assertEqual(self.post("/v1/queues/mail/pause"), {"verdict": "OK"})
        paused = [queue["queue"] for queue in self.get("/v1/queues?count=1000")["queues"] if queue["paused"]]
        self.assertEqual(paused, ["mail"])
        self.assertEqual(self.post("/v1/queues/mail/resume", {}), {"verdict": "OK"})
        self.assertIn("w", [worker["worker"] for worker in self.get("/v1/workers")["workers"]])

    def test_work_leases(self):
        first = self.post("/v1/work/log/acquire", {"offset": 1, "lease_ms": 60000})
        self.assertEqual(first["verdict"], "ACQUIRED")
        self.assertEqual(self.post("/v1/work/log/acquire", {"offset": 2}), {"verdict": "ENQUEUED", "position": 1})
        self.assertEqual(self.get("/v1/work/log/backlog")["offsets"], [2])
        mine = {"token": first["token"]}
        self.assertEqual(self.post("/v1/work/log/extend", {**mine, "lease_ms": 60000})["verdict"], "EXTENDED")
        self.assertEqual(self.post("/v1/work/log/fail", {**mine, "reason": "no"})["verdict"], "RETRY_SCHEDULED")
        self.assertEqual(self.post("/v1/work/log/succeed", mine), {"verdict": "NEXT_HINT", "offset": 2})
        self.assertEqual(self.code("POST", "/v1/work/log/succeed", mine, 409), "NOLEASE")
        self.assertEqual(self.get("/v1/work/log/done")["intervals"], [{"first": 1, "last": 1}])
        self.assertEqual(self.get("/v1/work/log/failed")["offsets"], [])
        self.assertEqual(self.post("/v1/work/log/acquire", {"offset": 1}), {"verdict": "ALREADY_PROCESSED"})
        self.assertEqual(self.code("POST", "/v1/work/log/acquire", {"offset": 3}, 409), "BACKLOGORDER")
        self.assertEqual(self.get("/v1/work/log")["state"], "IDLE")
        self.assertEqual(self.get("/v1/work")["domains"], ["log"])
        self.assertEqual(self.post("/v1/work/log/trim", {"below": 2}), {"verdict": "OK"})
        self.assertEqual(self.code("GET", "/v1/work/unknown", expect=404), "NOTFOUND")
        self.assertEqual(self.get("/v1/work/unknown/backlog")["offsets"], [])

    def test_locks(self):
        grant = self.post("/v1/locks/orders/1/acquire", {"owner": "me", "lease_ms": 60000})
        self.assertEqual(sorted(grant), ["fence", "holds", "remaining_ms", "token"])
        self.assertEqual(self.post("/v1/locks/orders/1/acquire", {"owner": "you"}), {"verdict": "BUSY"})
        self.assertEqual(self.get("/v1/locks/orders/1")["owner"], "me")
        self.assertIn("orders", [lock["domain"] for lock in self.get("/v1/locks")["locks"]])
        self.assertEqual(len(self.get("/v1/locks/orders")["locks"]), 1)
        mine = {"token": grant["token"]}
        self.assertEqual(self.post("/v1/locks/orders/1/extend", mine)["fence"], grant["fence"])
        self.assertEqual(self.post("/v1/locks/orders/1/release", mine), {"verdict": "RELEASED", "holds": 0})
        self.assertEqual(self.post("/v1/locks/orders/1/force"), {"forced": False})
        self.assertEqual(self.code("GET", "/v1/locks/orders/1", expect=404), "NOTFOUND")
        self.assertEqual(self.code("POST", "/v1/locks/orders/1/release", mine, 409), "NOTHELD")
        self.assertEqual(self.code("POST", "/v1/locks/orders/1/acquire", {"owner": "me", "bound": True}), "INVALID")

    def test_pages_of_the_server(self):
        self.assertEqual(self.get("/healthz"), {"status": "alive"})
        self.assertEqual(self.get("/readyz"), {"status": "ready"})
        code, text = self.curl("/metrics")
        self.assertIn("tenure_connections ", text)
        self.description.check("GET", "/metrics", code, text)
        status = self.get("/v1/status")
        self.assertIn(f"127.0.0.1:{self.server.http_port}", status["server"]["http_addresses"])
        self.get("/openapi.json")
        everybody = self.get("/v1/user")
        self.assertIsNone(everybody["user"])
        self.assertEqual([right["role"] for right in everybody["roles"]], ["submit", "work", "lock", "read", "admin"])
        for path, beginning in (("/", "<!doctype html>"), ("/console.js", ""), ("/console.css", ""), ("/console.svg", "<svg")):
            code, text = self.curl(path, "--compressed")
            self.assertEqual(code, 200, path)
            self.assertTrue(text.startswith(beginning), text[:100])
            self.description.check("GET", path, code, text)

    def test_events_are_no_json(self):
        with subprocess.Popen(["curl", "-sSNi", self.url + "/v1/events"], stdout=subprocess.PIPE, text=True) as curl:
            head = "".join(iter(curl.stdout.readline, "\n"))
            curl.kill()
        self.description.seen.add(("GET", "/v1/events"))
        described, = self.description.document["paths"]["/v1/events"]["get"]["responses"]["200"]["content"]
        self.assertIn(f"Content-Type: {described}\n", head)
        self.assertEqual(self.code("GET", "/v1/events?x=y"), "ERR")

    def test_names_of_any_kind_are_in_the_path(self):
        for encoded, name in (("a%2Fb", "a/b"), ("%C3%A9%20x", "é x"), ("%2e%2e", ".."), ("..", ".."), ("a+b", "a+b")):
            self.post(f"/v1/locks/names/{encoded}/acquire", {"owner": "me", "lease_ms": 60000})
            self.assertEqual(self.get(f"/v1/locks/names/{encoded}")["identifier"], name)
            self.assertEqual(self.post(f"/v1/locks/names/{encoded}/force"), {"forced": True})

    def test_a_lock_is_waited_for_beside_redis_clients(self):
        with self.server.connect() as client:
            token = client.ask("LOCK.ACQUIRE", "d", "shared", "redis")[0]
            waiting = in_thread(lambda: self.post("/v1/locks/d/shared/acquire", {"owner": "http", "wait_ms": 60000}))
            while self.get("/v1/locks/d/shared")["waiters"] == 0:
                pass
            client.ask("LOCK.RELEASE", "d", "shared", token)
            self.assertEqual(waiting()["holds"], 1)

    def test_who_hangs_up_waits_no_more(self):
        with self.server.connect() as client:
            client.ask("LOCK.ACQUIRE", "d", "left", "redis")
            curl = subprocess.Popen(["curl", "-s", "-d", '{"owner":"http","wait_ms":600000}',
                                     self.url + "/v1/locks/d/left/acquire"])
            while self.get("/v1/locks/d/left")["waiters"] == 0:
                pass
            self.assertIn("resp=http", client.ask("CLIENT", "LIST"))
            curl.kill()
            curl.wait()
            while self.get("/v1/locks/d/left")["waiters"] == 1:
                pass

    def test_a_large_payload_there_and_back(self):
        payload = "é" * (500 << 10)
        flags = ["-H", "Content-Type: application/json", "--data-binary", "@-"]
        found = subprocess.run(["curl", "-sS", *flags, self.url + "/v1/queues/large/tasks"], text=True, check=True,
                               input=json.dumps({"payload": payload}), capture_output=True)
        self.assertEqual(json.loads(found.stdout)["verdict"], "CREATED")
        lease, = self.post("/v1/lease", {"worker": "w", "queues": ["large"]})["leases"]
        self.assertEqual(lease["payload"], payload)

    def test_head_is_get_without_its_body(self):
        status, head = self.curl("/v1/queues", "-I")
        self.assertEqual(status, 200)
        self.assertRegex(head, r"(?m)^Content-Length: [1-9]")
        self.assertTrue(head.endswith("\n\n"), head)


class Whole(unittest.TestCase):
    def test_a_stop_answers_those_who_wait_and_closes_those_who_do_not(self):
        with Tenured() as server:
            url = f"http://127.0.0.1:{server.http_port}"
            with tenured.Client(server.http_port) as idle, server.connect() as client:
                idle.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                waiting = in_thread(lambda: subprocess.run(
                    ["curl", "-si", "-d", '{"worker":"w","queues":["q"],"block_ms":600000}', url + "/v1/lease"],
                    capture_output=True, text=True, timeout=60, check=True).stdout)
                while "flags=b" not in client.ask("CLIENT", "LIST"):
                    time.sleep(0.01)
                server.signal(signal.SIGTERM)
                self.assertIn('{"verdict":"NONE","leases":[]}', waiting())
                self.assertIn("Connection: close", waiting())
                self.assertTrue(idle.is_closed_by_server())
                self.assertEqual(server.wait(), 0, server.log())


def load_tests(loader, _, __):
    """Whether every route was asked is known at the end."""
    suite = loader.loadTestsFromTestCase(Http)

    class EveryRoute(unittest.TestCase):
        def test_was_asked(self):
            self.assertEqual(Http.description.operations.keys() - Http.description.seen, set())

    return unittest.TestSuite([suite, loader.loadTestsFromTestCase(EveryRoute), loader.loadTestsFromTestCase(Whole)])


if __name__ == "__main__":
    tenured.main()
