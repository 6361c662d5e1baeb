"""Nodes of several versions: what one of them could not read is not written, and said; and written once it is gone.

An older node is nothing but its presence in etcd here: there is no older version to run. Environment: TENURED, the server; PATH
has etcd.
"""

import base64
import itertools
import json
import shutil
import sys
import urllib.request

from cluster import Cluster, Etcd, await_true
from tenured import Client, Failed

# Tasks and work; no locks.
RECORDS_KNOWN = 16


def call(etcd, path, **words):
    body = {name: base64.b64encode(word.encode()).decode() for name, word in words.items()}
    with urllib.request.urlopen(f"http://{etcd.addresses()[0]}/v3/kv/{path}", data=json.dumps(body).encode(),
                                timeout=10) as reply:
        return json.load(reply)


def refusal(port, *words):
    """What was said; empty: it was done."""
    try:
        with Client(port) as client:
            client.ask(*words)
    except Failed as error:
        return str(error)
    return ""


def main():
    if shutil.which("etcd") is None:
        print("there is no etcd on this machine: skipped")
        return 77
    key = "tenure/nodes/old:1"
    with Etcd(size=1) as etcd, Cluster(etcd, size=2, flags=("--leadership-ms", "2000")) as cluster:
        port = cluster.await_all().port
        call(etcd, "put", key=key, value=f"{RECORDS_KNOWN} 0 0.0.9")
        names = map(str, itertools.count())
        await_true("a lock is refused", lambda: refusal(port, "LOCK.ACQUIRE", "d", next(names), "o"), patience=20)
        text = refusal(port, "LOCK.ACQUIRE", "d", "last", "o")
        assert text.startswith("UNAVAILABLE") and "node old:1 (version 0.0.9) does not know" in text, text
        # Nothing has changed, and all else goes on.
        with Client(port) as client:
            assert client.ask("LOCK.GET", "d", "last") is None
            client.ask("TASK.SUBMIT", "queue", "payload")
        call(etcd, "deleterange", key=key)
        await_true("a lock is granted", lambda: not refusal(port, "LOCK.ACQUIRE", "d", "last", "o"), patience=20)
    return 0


if __name__ == "__main__":
    sys.exit(main())
