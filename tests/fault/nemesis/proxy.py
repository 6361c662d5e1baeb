"""A TCP proxy of our own between clients and the server: passes on, delays, swallows, cuts."""

import asyncio
import random
import threading


class Proxy:
    """Listens on a free port of this machine while its `with` block lasts."""

    def __init__(self):
        self.target = None  # (host, port); None: nobody is there, and connections are closed
        self.delay = 0.0  # seconds, before each piece is passed on; up to so much
        self.swallows = False  # what comes is neither passed on nor refused
        self.port = 0
        self._pairs = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()

    def __enter__(self):
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def cut(self):
        """Every connection, at once; what was under way is lost."""
        self._loop.call_soon_threadsafe(self._cut)

    def _cut(self):
        for writer in list(self._pairs):
            writer.transport.abort()

    def _run(self):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        self._cut()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))

    async def _serve(self, reader, writer):
        self._pairs.add(writer)
        other = None
        try:
            if self.target is None:
                return
            server_reader, other = await asyncio.open_connection(*self.target)
            self._pairs.add(other)
            await asyncio.wait([asyncio.ensure_future(self._pass_on(reader, other)),
                                asyncio.ensure_future(self._pass_on(server_reader, writer))],
                               return_when=asyncio.FIRST_COMPLETED)
        except (ConnectionError, OSError, asyncio.CancelledError):
            pass
        finally:
            for end in (writer, other):
                if end is not None:
                    self._pairs.discard(end)
                    end.transport.abort()

    async def _pass_on(self, reader, writer):
        try:
            while data := await reader.read(1 << 16):
                while self.swallows:
                    await asyncio.sleep(0.01)
                if self.delay:
                    await asyncio.sleep(random.uniform(0, self.delay))
                writer.write(data)
                await writer.drain()
        except (ConnectionError, OSError):
            pass
