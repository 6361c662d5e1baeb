"""What tests of users share: a file of users, and requests of HTTP."""

import json
import os
import subprocess

import tenured

TENURE = os.environ["TENURE"]


def tenure(*words, password=None):
    return subprocess.run([TENURE, *words], input=password, capture_output=True, text=True, timeout=tenured.PATIENCE)


def add_user(file, name, *roles, password):
    words = [word for role in roles for word in ("--role", role)]
    done = tenure("user", "add", "--users", file, name, *words, password=password + "\n")
    assert done.returncode == 0, done.stderr


class Reply:
    """What curl was answered."""

    def __init__(self, output):
        head, body = output.replace("\r\n", "\n").rsplit("\n\n", 1)
        self.head = head.split("\n\n")[-1]  # behind 100 Continue
        self.status = int(self.head.split()[1])
        self.body = json.loads(body) if body else None
        self.code = (self.body or {}).get("error", {}).get("code")


def curl(url, *flags, body=None):
    """Its reply; fails with CalledProcessError where there is none."""
    if body is not None:
        flags = [*flags, "-H", "Content-Type: application/json", "--data-binary", "@-"]
    found = subprocess.run(["curl", "-sSi", *flags, url], capture_output=True, text=True, timeout=tenured.PATIENCE,
                           check=True, input=None if body is None else json.dumps(body))
    return Reply(found.stdout)
