"""What the leases are for: a resource that takes writes, twice. One looks at the fence, the other trusts whoever comes.

A datagram each: client, name, fence. Neither answers; what they took is compared in the end.
"""

import socket
import threading


class Resource:
    def __init__(self, path):
        self.path = path
        self.guarded = []  # (name, fence), in the order of taking
        self.trusting = []
        self.refused = 0
        self._highest = {}
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(path)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            name, fence = self._socket.recv(4096).decode().rsplit(" ", 1)
            if name == "stop":
                return
            self._take(name, int(fence))

    def _take(self, name, fence):
        self.trusting.append((name, fence))
        if fence < self._highest.get(name, 0):
            self.refused += 1
            return
        self._highest[name] = fence
        self.guarded.append((name, fence))

    def close(self):
        """Behind everything that was sent before."""
        Pen(self.path).write("stop", 0)
        self._thread.join()
        self._socket.close()


class Pen:
    """A client's way to write."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.connect(path)

    def write(self, name, fence):
        self.socket.send(f"{name} {fence}".encode())
