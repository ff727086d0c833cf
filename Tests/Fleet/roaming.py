"""Clients whom a balancer without affinity sends to any node, each request anew."""

import asyncio
import random
import time

import honest

# A client asks about once in so many seconds.
GAP = 1.0


class Roamer(honest.Client):
    """A client of `honest` with a connection to each node that it has met."""

    def __init__(self, fleet, address, number):
        super().__init__(None, address, number)
        self.fleet, self.links, self.node, self.gap = fleet, {}, None, GAP

    async def _connect(self):
        self.node = random.choice(self.fleet.nodes)
        self.reader, self.writer = self.links.get(self.node, (None, None))
        if self.writer and self.reader.at_eof():
            self._close()
        if not self.writer:
            self.reader, self.writer = await asyncio.open_connection(
                self.node.place.address, 80, local_addr=(self.address, 0), limit=1 << 17)
            self.links[self.node] = (self.reader, self.writer)

    def _close(self):
        super()._close()
        self.links.pop(self.node, None)

    async def _ask(self, seen):
        try:
            await super()._ask(seen)
        except (OSError, honest.wire.Broken):
            # A node that was killed cuts its connections; the client asks another one at once.
            if self.node.is_running:
                raise
            self._close()
            seen.cut += 1


class Fleet:
    """The nodes that the balancer knows, and the clients."""

    def __init__(self, nodes, addresses):
        self.nodes = nodes
        self.clients = [Roamer(self, address, number) for number, address in enumerate(addresses)]

    async def run(self, seconds):
        """Has all clients ask for so long; returns what they saw."""
        seen = honest.Seen()
        seen.cut = 0
        end = time.monotonic() + seconds
        await asyncio.gather(*(client.run(end, seen) for client in self.clients))
        return seen

    def close(self):
        for client in self.clients:
            for node in list(client.links):
                client.node, (client.reader, client.writer) = node, client.links[node]
                client._close()
