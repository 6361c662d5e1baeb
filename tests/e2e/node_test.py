"""The clients of Node.js against the real server: see node_clients.mjs."""

import pathlib
import subprocess
import sys

from tenured import PATIENCE, Tenured

if __name__ == "__main__":
    with Tenured() as server:
        script = pathlib.Path(__file__).with_name("node_clients.mjs")
        sys.exit(subprocess.run(["node", script, str(server.port)], timeout=2 * PATIENCE, check=False).returncode)
