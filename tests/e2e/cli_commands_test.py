"""The commands of tenure against a server, and against a folder: what they print, and how they end."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import unittest

import guarded
import tenured
from certificates import Authority
from tenured import Tenured
from terminal import TENURE, Terminal, environment, run

DONE, USAGE, NOT_FOUND, UNAVAILABLE, ENDED_BADLY, REFUSED, NOT_NOW, NO_PERMISSION = 0, 2, 66, 69, 71, 73, 75, 77


class Commands(unittest.TestCase):
    """The same for a server and for a folder; see the classes below."""

    def tenure(self, *words, **more):
        raise NotImplementedError

    def tell(self, *words, **more):
        """What it prints; it must succeed."""
        done = self.tenure(*words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def read(self, *words):
        return json.loads(self.tell(*words, "--json"))

    def end(self, status, *words, says=None, **more):
        """It must end with this status, and say so on standard error."""
        done = self.tenure(*words, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        if says:
            self.assertIn(says, done.stderr)
        return done

    def test_a_task_from_its_submission_to_its_end(self):
        task = self.tell("submit", "mail", "hello").strip()
        self.assertEqual(self.read("get", task)["state"], "WAITING")
        self.assertIn(task, self.tell("list", "mail"))
        self.assertIn("nobody has had it", self.tell("history", task))
        done = self.tenure("work", "--queue", "mail", "--count", "1", "--result", "--quiet", "--", "tr", "a-z", "A-Z")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.tell("get", task, "--result"), "HELLO")
        self.assertEqual(self.tenure("wait", task).returncode, DONE)
        self.assertIn("COMPLETED after", self.tell("history", task))
        self.assertEqual(self.read("history", task)["attempts"][0]["outcome"], "COMPLETED")
        self.assertEqual(self.read("list")["queues"][0]["completed"], 1)

    def test_payloads_come_from_words_files_and_standard_input(self):
        payloads = ["[1,2]", "-dash", "", "two\nlines\n", "\x01\xff", "{\"a\": [\"b\", null]}", "list"]
        for payload in payloads[:2] + payloads[5:]:
            self.tell("submit", "q", "--", payload) if payload.startswith("-") else self.tell("submit", "q", payload)
        for payload in payloads[2:5]:
            self.tell("submit", "q", stdin=payload)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("from a file")
            file.flush()
            self.tell("submit", "q", "--file", file.name)
        expected = payloads[:2] + payloads[5:] + payloads[2:5] + ["from a file"]
        with tempfile.TemporaryDirectory(prefix="tenure-e2e-") as folder:
            out = os.path.join(folder, "out")
            script = f"cat >> {out}; echo '|' >> {out}"
            self.tenure("work", "--queue", "q", "--count", str(len(expected)), "--quiet", "--", "sh", "-c", script)
            with open(out, encoding="utf-8") as found:
                self.assertEqual(found.read(), "".join(payload + "|\n" for payload in expected))

    def test_options_of_a_task_are_passed_on(self):
        task = self.tell("submit", "q", "p", "--id", "T1", "--priority", "7", "--key", "k", "--delay", "1h").strip()
        self.assertEqual(task, "T1")
        found = self.read("get", "T1")
        self.assertEqual((found["priority"], found["key"]), (7, "k"))
        self.assertEqual(self.read("list")["queues"][0]["delayed"], 1)
        self.end(REFUSED, "submit", "q", "p", "--id", "T1", says="--request-id")
        first = self.read("submit", "q", "p", "--request-id", "once")
        again = self.read("submit", "q", "p", "--request-id", "once")
        self.assertEqual((first["task_id"], again["verdict"]), (again["task_id"], "EXISTING"))

    def test_kill_resubmit_and_wait_tell_by_their_status_how_it_is(self):
        task = self.tell("submit", "q", "p").strip()
        self.end(REFUSED, "resubmit", task, says="tenure wait")
        self.end(NOT_NOW, "wait", task, "--for", "10ms", says="has not ended")
        self.assertIn("DEAD", self.tell("kill", task, "--reason", "no more"))
        self.end(REFUSED, "kill", task, says="tenure resubmit")
        self.end(ENDED_BADLY, "wait", task)
        again = self.tell("resubmit", task).strip()
        self.assertNotEqual(again, task)
        self.assertEqual(self.read("list", "q", "--state", "dead")["tasks"][0]["task_id"], task)

    def test_a_paused_queue_gives_nothing(self):
        self.tell("submit", "q", "p")
        self.tell("pause", "q")
        self.assertIn("paused", self.tell("list"))
        self.tell("resume", "q")
        self.assertNotIn("paused", self.tell("list"))

    def test_what_is_not_there_is_told_with_what_to_do(self):
        self.end(NOT_FOUND, "get", "T9", says="tenure list QUEUE")
        self.end(NOT_FOUND, "history", "T9")
        self.end(NOT_FOUND, "wait", "T9")
        self.end(NOT_FOUND, "kill", "T9")
        self.end(NOT_FOUND, "domain", "d9", says="tenure domain")
        self.end(NOT_FOUND, "force-unlock", "d", "i", says="tenure locks")
        refused = self.end(NOT_FOUND, "get", "T9", "--json")
        self.assertEqual(json.loads(refused.stderr)["error"]["code"], "NOTASK")

    def test_what_makes_no_sense_is_a_wrong_command_line(self):
        self.end(USAGE, says="tenure: expected a command, found none")
        self.end(USAGE, "sumbit", "q", says="tenure: expected a command, found 'sumbit'")
        self.end(USAGE, "submit", says="tenure: ")
        self.end(USAGE, "work", "--parallel", "2", says="tenure: --queue is required")
        self.end(USAGE, "submit", "q", "p", "--delay", "30", says="30s")
        self.end(USAGE, "submit", "q", "p", "--priority", "10", says="priority")
        self.end(USAGE, "list", "q", "--state", "lost", says="waiting")
        self.end(USAGE, "lock", "d", "i", says="behind --")
        self.end(USAGE, "work", "--queue", "q", says="behind --")
        self.end(USAGE, "lock", "d::", "i", "--", "true", says="::")

    def test_status_tells_how_it_is(self):
        self.tell("submit", "q", "p")
        self.assertIn("tasks", self.tell("status"))
        self.assertIsInstance(self.read("status"), dict)
        self.assertIn("QUEUE", self.tell("top", "--once"))


class OnServer(Commands):
    def setUp(self):
        self.server = Tenured()
        self.addCleanup(self.server.__exit__)

    def tenure(self, *words, **more):
        return run(*words, server=self.server, **more)

    def test_a_domain_is_shown(self):
        with self.server.connect() as client:
            for offset in range(3):
                client.ask("WORK.ACQUIRE", "account", offset)
        self.assertEqual(self.tell("domain"), "account\n")
        self.assertIn("offset 0", self.tell("domain", "account"))
        self.assertEqual(self.tell("domain", "account", "--backlog"), "1\n2\n")
        self.assertEqual(self.read("domain", "account")["backlog"], 2)

    def test_locks_are_listed_and_freed(self):
        with self.server.connect() as client:
            fence = client.ask("LOCK.ACQUIRE", "orders", "17", "somebody")[1]
            self.assertIn("somebody", self.tell("locks"))
            self.assertEqual(self.read("locks", "orders")["locks"][0]["fence"], fence)
            self.end(REFUSED, "force-unlock", "orders", "17", "--fence", str(fence + 1), says="somebody")
            self.assertIn("free", self.tell("force-unlock", "orders", "17", "--fence", str(fence)))
            self.assertIsNone(client.ask("LOCK.GET", "orders", "17"))

    def test_the_status_has_what_info_tells(self):
        status = self.read("status")
        self.assertEqual(status["server"]["process_id"], self.server.process.pid)
        self.assertIn("leases_granted", json.dumps(status))
        self.assertIn(f"process {self.server.process.pid}", self.tell("status"))

    def test_a_late_report_stands_in_the_history(self):
        task = self.tell("submit", "q", "p").strip()
        with self.server.connect() as client:
            lease = client.ask("TASK.LEASE", "slow", 1, "q", "LEASE", 1)[0]
            done = self.tenure("work", "--queue", "q", "--count", "1", "--name", "quick", "--", "true")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(client.ask("TASK.COMPLETE", task, lease[3]), "CANCELLED")
        told = self.tell("history", task)
        for words in ("slow", "quick", "EXPIRED", "1 late report refused", "so it ran again", "COMPLETED"):
            self.assertIn(words, told)

    def test_a_load_is_measured(self):
        for what in ("tasks", "locks"):
            found = self.read("bench", what, "--for", "200ms", "--threads", "2")
            self.assertGreater(found["answers"], 0)
            self.assertGreaterEqual(found["max_ms"], found["p50_ms"])
        self.assertIn("latency", self.tell("bench", "--for", "100ms", "--threads", "1"))
        queues = self.read("list")["queues"]
        self.assertEqual({queue["waiting"] + queue["leased"] for queue in queues}, {0}, "it cleans up behind it")

    def test_a_flag_a_variable_and_a_file_name_the_server(self):
        address = f"127.0.0.1:{self.server.port}"
        with tempfile.TemporaryDirectory(prefix="tenure-e2e-") as folder:
            config = os.path.join(folder, "tenure.conf")
            with open(config, "w", encoding="ascii") as file:
                file.write(f"# mine\nserver = {address}\n")
            self.assertEqual(run("list", "--server", address).returncode, 0)
            self.assertEqual(run("--server", address, "list").returncode, 0)
            self.assertEqual(run("list", TENURE_SERVER=address).returncode, 0)
            self.assertEqual(run("list", "--config", config).returncode, 0)
            self.assertEqual(run("list", XDG_CONFIG_HOME=folder).returncode, 0)
            self.assertEqual(run("list", "--server", "127.0.0.1:1", "--timeout", "100ms",
                                 XDG_CONFIG_HOME=folder).returncode, UNAVAILABLE)


class OnFolder(Commands):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tenure-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def tenure(self, *words, **more):
        return run(*words, TENURE_EMBEDDED=self.folder, **more)

    def test_a_folder_that_is_in_use_is_unavailable(self):
        with Tenured(folder=self.folder):
            self.end(UNAVAILABLE, "list", says=self.folder)


class WithoutServer(unittest.TestCase):
    def test_a_server_that_is_not_there_is_told_soon_with_what_to_do(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            done = run("list", "--server", f"127.0.0.1:{closed.getsockname()[1]}")
        self.assertEqual(done.returncode, UNAVAILABLE)
        self.assertIn("tenured --data", done.stderr)
        self.assertIn("TENURE_SERVER", done.stderr)

    def test_help_has_examples_and_the_exit_statuses(self):
        root = run("--help")
        self.assertEqual(root.returncode, 0)
        self.assertIn("Exit status:", root.stdout)
        for command in ("submit get history list wait kill resubmit pause resume work lock locks force-unlock domain "
                        "status top bench completion user journal demo").split():
            self.assertIn(f"  {command} ", root.stdout)
            found = run(command, "--help")
            self.assertEqual(found.returncode, 0, command)
            self.assertTrue("Example" in found.stdout or "has examples" in found.stdout, command)

    def test_bash_completes_commands_and_their_options(self):
        def complete(*words):
            script = f"""source <("$0" completion bash)
                         COMP_WORDS=(tenure {' '.join(words[:-1])} '{words[-1]}'); COMP_CWORD={len(words)}
                         _tenure; printf '%s\\n' "${{COMPREPLY[@]}}" """
            done = subprocess.run(["bash", "--norc", "-c", script, TENURE], capture_output=True, text=True,
                                  timeout=tenured.PATIENCE, env=environment(), check=True)
            self.assertEqual(done.stderr, "")
            return done.stdout.split()

        self.assertEqual(complete("su"), ["submit"])
        self.assertIn("--delay", complete("submit", "--"))
        self.assertNotIn("--delay", complete("get", "--"))
        self.assertEqual(complete("journal", "ve"), ["verify"])
        self.assertIn("--from", complete("journal", "dump", "--f"))
        self.assertEqual(complete("submit", "--password-file", "/etc/hostn"), ["/etc/hostname"])
        self.assertIn("true", complete("lock", "d", "i", "--", "tru"))

    def script(self, shell):
        """A file with the script for this shell, in a folder that goes with the test."""
        folder = tempfile.mkdtemp(prefix="tenure-e2e-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        done = run("completion", shell)
        self.assertEqual(done.returncode, 0)
        path = os.path.join(folder, "_tenure")
        with open(path, "w", encoding="utf-8") as file:
            file.write(done.stdout)
        return path

    def test_fish_completes_commands_and_their_options(self):
        script = self.script("fish")

        def complete(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"], text=True,
                                  capture_output=True, timeout=tenured.PATIENCE, env=environment(), check=True)
            self.assertEqual(done.stderr, "")
            return [entry.split("\t")[0] for entry in done.stdout.splitlines()]

        self.assertIn("submit", complete("tenure su"))
        self.assertIn("--delay", complete("tenure submit --d"))
        self.assertEqual(complete("tenure get --del"), [])
        self.assertEqual(complete("tenure journal ver"), ["verify"])

    def test_zsh_completes_commands_and_their_options(self):
        script = self.script("zsh")
        self.assertEqual(subprocess.run(["zsh", "-n", script], capture_output=True, check=True).stderr, b"")
        # Completion works at a terminal only; Tab is pressed there.
        with Terminal("/usr/bin/zsh", "-f", "-i", columns=200, PS1="% ") as shell:
            folder = os.path.dirname(script)
            shell.send(f"fpath=({folder} $fpath); autoload -U compinit; compinit -D -u; echo re''ady\n")
            shell.await_text("ready\r\n")
            shell.send("tenure sub\t")
            shell.await_match("tenure sub.*mit")
            shell.send("--dela\t")
            shell.await_match("--dela.*y")
            shell.send("\x15tenure journal ver\t")
            shell.await_match("journal ver.*ify")


class WithUsers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tenure-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        users = os.path.join(self.folder, "users")
        guarded.add_user(users, "joe", "submit:mail", password="secret")
        self.right = self._write("right", "secret\n")
        self.wrong = self._write("wrong", "guess\n")
        self.server = Tenured("--users", users)
        self.addCleanup(self.server.__exit__)

    def _write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def test_who_signs_in_may_and_who_does_not_is_told_how(self):
        who = ("--user", "joe", "--password-file")
        self.assertEqual(run("submit", "mail", "p", *who, self.right, server=self.server).returncode, 0)
        for words, says in (((), "--password-file"), ((*who, self.wrong), "'joe'")):
            done = run("submit", "mail", "p", *words, server=self.server)
            self.assertEqual(done.returncode, NO_PERMISSION, done.stderr)
            self.assertIn(says, done.stderr)
        done = run("submit", "other", "p", *who, self.right, server=self.server)
        self.assertEqual(done.returncode, NO_PERMISSION, done.stderr)
        self.assertIn("tenure user add", done.stderr)
        done = run("submit", "mail", "p", server=self.server, TENURE_USER="joe", TENURE_PASSWORD_FILE=self.right)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_at_a_terminal_the_password_is_asked_for_and_not_shown(self):
        with Terminal(TENURE, "submit", "mail", "p", "--id", "T1", "--user", "joe", server=self.server) as terminal:
            terminal.await_text("Password: ")
            terminal.send("secret\n")
            self.assertEqual(terminal.wait(), 0)
            self.assertIn("T1", terminal.text())
            self.assertNotIn("secret", terminal.text())

    def test_a_password_file_that_is_missing_or_empty_is_told(self):
        for path in (self._write("empty", ""), os.path.join(self.folder, "none")):
            done = run("list", "--user", "joe", "--password-file", path, server=self.server)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn(path, done.stderr)
        done = run("list", "--user", "joe", server=self.server)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("no terminal", done.stderr)


class WithTls(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tenure-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.authority = Authority(self.folder)
        certificate, key = self.authority.sign("tenured", host="127.0.0.1")
        users = self._path("users")
        guarded.add_user(users, "joe", "submit", "read", password="secret")
        with open(self._path("password"), "w", encoding="ascii") as file:
            file.write("secret\n")
        self.server = Tenured("--users", users, "--tls-cert", certificate, "--tls-key", key,
                              "--tls-client-ca", self.authority.certificate)
        self.addCleanup(self.server.__exit__)
        self.signed_in = {"TENURE_USER": "joe", "TENURE_PASSWORD_FILE": self._path("password")}

    def _path(self, name):
        return os.path.join(self.folder, name)

    def end(self, status, *words, says="", **more):
        done = run(*words, server=self.server, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(says, done.stderr)

    def test_a_password_goes_to_a_server_that_has_proven_who_it_is(self):
        self.end(DONE, "submit", "mail", "p", "--ca", self.authority.certificate, **self.signed_in)
        self.end(DONE, "submit", "mail", "p", "--tls", TENURE_CA=self.authority.certificate, **self.signed_in)
        config = self._path("tenure.conf")
        with open(config, "w", encoding="ascii") as file:
            file.write(f"tls = on\nca = {self.authority.certificate}\nuser = joe\n"
                       f"password-file = {self._path('password')}\n")
        self.end(DONE, "submit", "mail", "p", "--config", config)
        self.end(NO_PERMISSION, "submit", "mail", "p", "--ca", self.authority.certificate, says="--user")

    def test_a_certificate_signs_in_without_a_password(self):
        certificate, key = self.authority.sign("joe")
        shown = ("--ca", self.authority.certificate, "--client-cert", certificate, "--client-key", key)
        self.end(DONE, "list", *shown)
        self.end(NO_PERMISSION, "pause", "mail", *shown, says="role")

    def test_a_server_that_is_another_is_refused(self):
        stranger = Authority(self.folder, "stranger")
        self.end(UNAVAILABLE, "list", "--ca", stranger.certificate, says="signed by", **self.signed_in)
        self.end(UNAVAILABLE, "list", "--tls", says="--ca FILE", **self.signed_in)
        self.end(UNAVAILABLE, "list", "--ca", self.authority.certificate, "--server-name", "tenure.example",
                 says="tenure.example", **self.signed_in)

    def test_plain_text_is_told_what_to_do(self):
        self.end(UNAVAILABLE, "list", "--timeout", "1s", says="--tls", **self.signed_in)

    def test_a_file_that_is_missing_is_told(self):
        self.end(USAGE, "list", "--ca", self._path("none"), says="--ca names tls.ca_file")
        self.end(USAGE, "list", "--ca", self.authority.certificate, TENURE_TLS="off", says="tls")


del Commands  # it is only for those two

if __name__ == "__main__":
    tenured.main()
