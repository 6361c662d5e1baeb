"""TLS on both ports: real clients, certificates good and bad, plain text, slow handshakes, and reading them again."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import warnings

import redis

import sanitized
import tenured
from certificates import Authority, openssl
from guarded import add_user, curl
from tenured import Client, Failed, Tenured

MIB = 1 << 20


class Files(unittest.TestCase):
    """Certificates and users in a folder."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="tenure-tls-")
        cls.authority = Authority(cls.folder)
        cls.server_files = cls.authority.sign("tenured", host="127.0.0.1")
        cls.users = os.path.join(cls.folder, "users")
        add_user(cls.users, "joe", "submit", "read", password="joe's own")
        add_user(cls.users, "root", "admin", password="root's own")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def flags(cls, files=None):
        certificate, key = files or cls.server_files
        return "--tls-cert", certificate, "--tls-key", key


class Tls(Files):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.strange = Authority(cls.folder, "strange")
        cls.joe = cls.authority.sign("joe")
        cls.unknown = cls.authority.sign("unknown")
        cls.expired = cls.authority.sign("joe", file="expired", days=-1)
        cls.forged = cls.strange.sign("joe", file="forged")
        cls.server = Tenured("--users", cls.users, *cls.flags(), "--tls-client-ca", cls.authority.certificate)
        cls.url = f"https://127.0.0.1:{cls.server.http_port}"

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        super().tearDownClass()

    def tearDown(self):
        with self.connect() as client:
            self.assertEqual(client.ask("AUTH", "root", "root's own"), "OK", "the server serves on")

    def connect(self, certificate=None, **options):
        client = self.server.connect(tls=self.authority.trust(certificate), **options)
        self.addCleanup(client.close)
        return client

    def redis(self, certificate=None, **options):
        if certificate:
            options.update(ssl_certfile=certificate[0], ssl_keyfile=certificate[1])
        client = redis.Redis(port=self.server.port, ssl=True, ssl_ca_certs=self.authority.certificate,
                             decode_responses=True, **options)
        self.addCleanup(client.close)
        return client

    def curl(self, target, *flags, certificate=None, body=None):
        if certificate:
            flags = [*flags, "--cert", certificate[0], "--key", certificate[1]]
        return curl(self.url + target, "--cacert", self.authority.certificate, *flags, body=body)

    # --- clients ---

    def test_redis_py_signs_in(self):
        for protocol in (2, 3):
            client = self.redis(username="joe", password="joe's own", protocol=protocol)
            self.assertEqual(client.execute_command("TASK.SUBMIT", "q", "p", "ID", f"py{protocol}")[1], "CREATED")
        with self.assertRaises(redis.exceptions.AuthenticationError):
            self.redis(username="joe", password="wrong").ping()

    def test_redis_py_shows_a_certificate(self):
        for protocol in (2, 3):
            # A greeting without a password is for those who are known.
            client = self.redis(certificate=self.joe, protocol=protocol)
            self.assertTrue(client.ping())
            self.assertEqual(client.execute_command("TASK.SUBMIT", "q", "p", "ID", f"cert{protocol}")[1], "CREATED")
            with self.assertRaises(redis.exceptions.NoPermissionError):
                client.execute_command("CLIENT", "LIST")

    def test_redis_cli(self):
        cli = ["redis-cli", "-p", str(self.server.port), "--tls", "--cacert", self.authority.certificate]
        good = subprocess.run([*cli, "--cert", self.joe[0], "--key", self.joe[1], "PING"], capture_output=True,
                              text=True, timeout=tenured.PATIENCE)
        self.assertEqual(good.stdout, "PONG\n", good.stderr)

    def test_curl_signs_in(self):
        self.assertEqual(self.curl("/v1/queues", "-u", "joe:joe's own").status, 200)
        self.assertEqual(self.curl("/v1/queues", "--oauth2-bearer", "am9lOmpvZSdzIG93bg").status, 200)
        refused = self.curl("/v1/queues", "-u", "joe:wrong")
        self.assertEqual((refused.status, refused.code), (401, "NOAUTH"))
        self.assertEqual(self.curl("/v1/queues").status, 401)
        self.assertEqual(self.curl("/healthz").status, 200)

    def test_curl_shows_a_certificate(self):
        self.assertEqual(self.curl("/v1/queues", certificate=self.joe).status, 200)
        self.assertEqual(self.curl("/v1/queues/q/pause", certificate=self.joe, body={}).code, "NOPERM")
        self.assertEqual(self.curl("/v1/queues/q/pause", "-u", "root:root's own", certificate=self.joe,
                                   body={}).status, 200, "what a request says counts")

    def test_large_payloads_there_and_back(self):
        payload = "x" * 900_000
        self.assertEqual(self.curl("/v1/queues/large/tasks", certificate=self.joe,
                                   body={"payload": payload, "id": "large"}).status, 200)
        with self.connect(self.joe) as client:
            client.send(tenured.request("TASK.SUBMIT", "large", payload) * 20 + tenured.request("PING"))
            self.assertEqual([client.reply()[1] for _ in range(20)], ["CREATED"] * 20)
            self.assertEqual(client.reply(), "PONG")
        with self.connect() as worker:
            worker.ask("AUTH", "root", "root's own")
            add = worker.ask("TASK.LIST", "large", "COUNT", "100")
            self.assertEqual(len(add[1]), 21)

    def test_pipelines_in_small_pieces(self):
        with self.connect(self.joe) as client:
            for byte in tenured.request("PING"):
                client.send(bytes([byte]))
            self.assertEqual(client.reply(), "PONG")
            client.send(tenured.request("PING") * 20_000)
            self.assertEqual({client.reply() for _ in range(20_000)}, {"PONG"})

    def test_versions_before_1_2_are_not_spoken(self):
        for version, is_spoken in ((ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True),
                                   (ssl.TLSVersion.TLSv1_3, True)):
            context = self.authority.trust()
            context.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that they are old is the point
                context.minimum_version = context.maximum_version = version
            if is_spoken:
                with self.server.connect(tls=context) as client:
                    self.assertEqual(client.ask("AUTH", "root", "root's own"), "OK")
            else:
                with self.assertRaises((ssl.SSLError, ConnectionError)):
                    self.server.connect(tls=context)

    # --- certificates ---

    def assert_refused(self, certificate, why):
        """In TLS 1.3 a client learns it with what it reads first."""
        with self.assertRaises((ssl.SSLError, ConnectionError, EOFError)):
            self.connect(certificate).ask("PING")
        with self.assertRaises(subprocess.CalledProcessError):
            self.curl("/healthz", certificate=certificate)
        self.server.await_log(f'msg="its certificate: {why}')

    def test_an_expired_certificate_is_refused(self):
        self.assert_refused(self.expired, "certificate has expired")

    def test_a_certificate_of_another_authority_is_refused(self):
        self.assert_refused(self.forged, "unable to get local issuer certificate")

    def test_a_certificate_of_nobody_signs_nobody_in(self):
        with self.connect(self.unknown) as client:
            with self.assertRaisesRegex(Failed, "^NOAUTH "):
                client.ask("PING")
            self.assertEqual(client.ask("AUTH", "joe", "joe's own"), "OK")
        self.assertEqual(self.curl("/v1/queues", certificate=self.unknown).status, 401)
        self.server.await_log("certificate.of_nobody")

    def test_reset_signs_out_also_who_has_a_certificate(self):
        with self.connect(self.joe) as client:
            self.assertEqual(client.ask("PING"), "PONG")
            client.ask("RESET")
            with self.assertRaisesRegex(Failed, "^NOAUTH "):
                client.ask("PING")

    # --- bad input ---

    def test_plain_text_is_refused(self):
        for port in (self.server.port, self.server.http_port):
            for text in (b"PING\r\n", tenured.request("AUTH", "root", "root's own"),
                         b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"\x00" * 100, b"x" * 100_000):
                with Client(port) as client:
                    try:
                        client.send(text)
                    except ConnectionError:
                        pass
                    self.assertTrue(client.is_closed_by_server())
        self.server.await_log('msg="http request"')
        self.server.await_log('msg="wrong version number"')
        self.assertNotIn("root's own", self.server.log())

    def test_who_hangs_up_amid_the_handshake(self):
        for _ in range(50):
            with Client(self.server.port) as client:
                client.send(b"\x16\x03\x01\x02\x00\x01")
        with Client(self.server.port) as client:
            client.send(b"\x16\x03\x01\x02\x00\x01")
            client.socket.shutdown(socket.SHUT_WR)
            self.assertTrue(client.is_closed_by_server())

    def test_who_never_reads_is_bounded(self):
        self.server.forget_memory_peak()
        before = self.server.memory_peak()
        client = self.connect(self.joe)
        client.socket.setblocking(False)
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            try:
                client.socket.send(tenured.request("PING") * 1000)
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                time.sleep(0.01)
            except (ConnectionError, ssl.SSLError):
                break
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(32 * MIB))

    def test_a_bulk_announced_with_512_mb(self):
        self.server.forget_memory_peak()
        before = self.server.memory_peak()
        for sign_in in (None, self.joe):
            with self.connect(sign_in) as client:
                client.send(b"*2\r\n$4\r\nAUTH\r\n$536870912\r\n")
                with self.assertRaisesRegex(Failed, "^(ERR|TOOLARGE) "):
                    client.reply()
                self.assertTrue(client.is_closed_by_server())
        self.assertLess(self.server.memory_peak() - before, sanitized.memory(16 * MIB))


class Reloading(Files):
    def shown(self, server):
        """The serial number of the certificate that is shown."""
        with server.connect(tls=self.authority.trust()) as client:
            return client.socket.getpeercert()["serialNumber"]

    def test_sighup_reads_certificates_again(self):
        paths = [os.path.join(self.folder, name) for name in ("live.pem", "live.key")]
        for old, live in zip(self.server_files, paths):
            shutil.copy(old, live)
        with Tenured(*self.flags(paths)) as server:
            before = self.shown(server)
            old_client = server.connect(tls=self.authority.trust())
            for new, live in zip(self.authority.sign("tenured", file="fresh", host="127.0.0.1"), paths):
                shutil.copy(new, live)
            self.assertEqual(self.shown(server), before, "nothing changes before it is read")
            server.signal(signal.SIGHUP)
            server.await_log("SIGHUP: read the certificate")
            after = self.shown(server)
            self.assertNotEqual(after, before)
            self.assertEqual(old_client.ask("PING"), "PONG", "who is connected stays")
            old_client.close()
            # The key of another.
            shutil.copy(self.server_files[1], paths[1])
            server.signal(signal.SIGHUP)
            server.await_log("SIGHUP: the certificates stay as they are: --tls-key")
            self.assertEqual(self.shown(server), after)
            os.remove(paths[0])
            server.signal(signal.SIGHUP)
            server.await_log("No such file")
            self.assertEqual(self.shown(server), after)

    def test_a_user_by_certificate_keeps_its_session_when_its_password_changes(self):
        users = os.path.join(self.folder, "changing")
        add_user(users, "joe", "read", password="1")
        joe = self.authority.sign("joe")
        with Tenured("--users", users, *self.flags(), "--tls-client-ca", self.authority.certificate) as server:
            with server.connect(tls=self.authority.trust(joe)) as client:
                self.assertEqual(client.ask("LOCK.LIST"), ["0", []])
                add_user(users, "joe", "lock:d", password="2")
                server.signal(signal.SIGHUP)
                server.await_log("SIGHUP: read 1 users")
                with self.assertRaisesRegex(Failed, "^NOPERM "):
                    client.ask("LOCK.LIST")
                self.assertEqual(len(client.ask("LOCK.ACQUIRE", "d", "i", "me")), 4)


class Starting(Files):
    def refused(self, *flags):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([tenured.PROGRAM, "--data", folder, *tenured.FREE_PORTS, *flags],
                                  capture_output=True, text=True, timeout=tenured.PATIENCE)
            self.assertNotEqual(done.returncode, 0)
            return done.stderr

    def test_what_is_wrong_is_told(self):
        certificate, key = self.server_files
        nonsense = os.path.join(self.folder, "nonsense")
        with open(nonsense, "w", encoding="ascii") as file:
            file.write("nonsense\n")
        locked = os.path.join(self.folder, "locked.key")
        openssl("pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", locked)
        other = self.authority.sign("other")
        for flags, told in (
                (("--tls-cert", certificate), "--tls-key: expected a file, found none"),
                (("--tls-key", key), "--tls-cert: expected a file, found none"),
                (("--tls-cert", "/missing/file", "--tls-key", key), "--tls-cert: open /missing/file: No such file"),
                (("--tls-cert", certificate, "--tls-key", "/missing/file"), "--tls-key: open /missing/file"),
                (("--tls-cert", nonsense, "--tls-key", key), f"{nonsense}: expected certificates in PEM"),
                (("--tls-cert", certificate, "--tls-key", nonsense), f"{nonsense}: expected a private key in PEM"),
                (("--tls-cert", certificate, "--tls-key", other[1]), "expected the key of the certificate"),
                (("--tls-cert", certificate, "--tls-key", locked), "expected a key without a passphrase"),
                ((*self.flags(), "--tls-client-ca", nonsense, "--users", self.users), "expected certificates in PEM"),
                ((*self.flags(), "--tls-client-ca", self.authority.certificate), "expected --users"),
                ((*self.flags(), "--bind", "0.0.0.0"), "expected users and TLS, found TLS alone"),
                (("--users", self.users, "--bind", "0.0.0.0"), "expected users and TLS, found users alone")):
            self.assertIn(told, self.refused(*flags))

    def test_an_expired_certificate_is_a_warning(self):
        expired = self.authority.sign("tenured", file="old", days=-1, host="127.0.0.1")
        with Tenured(*self.flags(expired)) as server:
            server.await_log("the certificate has expired")
            with self.assertRaisesRegex(ssl.SSLError, "certificate has expired"):
                server.connect(tls=self.authority.trust())

    def test_users_and_tls_may_be_reached_by_others(self):
        # An address for documentation, which no machine has: that is found out when it may be used.
        told = self.refused("--bind", "192.0.2.1", "--users", self.users, *self.flags())
        self.assertIn("this machine does not have that address", told)

    def test_the_environment_says_it_too(self):
        certificate, key = self.server_files
        with Tenured(before=["env", f"TENURE_TLS_CERT={certificate}", f"TENURE_TLS_KEY={key}"]) as server:
            self.assertIn("url=https://", server.log())
            self.assertIn("try: redis-cli --tls ", server.log())
            with server.connect(tls=self.authority.trust()) as client:
                self.assertEqual(client.ask("PING"), "PONG", "without users all is open")

    def test_a_slow_handshake_is_cut_off(self):
        with Tenured(*self.flags(), "--sign-in-ms", "300") as server:
            for port in (server.port, server.http_port):
                with Client(port) as client:
                    client.send(b"\x16\x03\x01")
                    began = time.monotonic()
                    self.assertTrue(client.is_closed_by_server())
                    self.assertLess(time.monotonic() - began, sanitized.seconds(10))
            server.await_log("its TLS handshake takes too long")
            with server.connect(tls=self.authority.trust()) as client:
                self.assertEqual(client.ask("PING"), "PONG")

    def test_a_stop_ends_connections_cleanly(self):
        with Tenured(*self.flags()) as server, server.connect(tls=self.authority.trust()) as client:
            client.put("TASK.LEASE", "w", "1", "q", "BLOCK", "600000")
            with server.connect(tls=self.authority.trust()) as other:
                while "flags=b" not in other.ask("CLIENT", "LIST"):
                    time.sleep(0.01)
            server.signal(signal.SIGTERM)
            self.assertEqual(client.reply(), [])
            self.assertTrue(client.is_closed_by_server())
            self.assertEqual(server.wait(), 0, server.log())


def load_tests(loader, _, __):
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Tls, Reloading, Starting))


if __name__ == "__main__":
    tenured.main()
