"""Clients of HTTP/1 and HTTP/2 that count what they receive, to the byte."""

import asyncio
import dataclasses
import socket
import struct

import h2.config
import h2.connection
import h2.events
import h2.settings

SECONDS = 60


@dataclasses.dataclass
class Received:
    """What came of one response."""

    protocol: str
    status: int = 0
    fields: dict = dataclasses.field(default_factory=dict)
    # The bytes of the body without framing.
    body: int = 0
    # All bytes of the response over HTTP/1, its interim responses included.
    wire: int = 0
    is_whole: bool = False

    @property
    def coding(self):
        # The head of a response to HEAD names the coding that GET would have.
        return self.fields.get("content-encoding", "identity") if self.body else "identity"


class HTTP1:
    """One connection at a time, kept as long as the server keeps it."""

    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def ask(self, method, target, fields=(), content=b"", chunk=0, version="1.1", leaves_after=None):
        """Sends a request, and returns the whole response, or what came of it.

        With `leaves_after` the client resets the connection after so many bytes of the body, or an event without a response."""
        fields = [("Host", "api.test"), *fields]
        if chunk:
            fields.append(("Transfer-Encoding", "chunked"))
            pieces = [content[at:at + chunk] for at in range(0, len(content), chunk)]
            content = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        elif content:
            fields.append(("Content-Length", len(content)))
        head = "".join(f"{name}: {value}\r\n" for name, value in fields)
        return await self.send(
            f"{method} {target} HTTP/{version}\r\n{head}\r\n".encode() + content, version, method == "HEAD", leaves_after)

    async def send(self, data, version="1.1", is_bodiless=False, leaves_after=None):
        received = Received(f"HTTP/{version}")
        async with asyncio.timeout(SECONDS):
            if not self.writer:
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 17)
            self.writer.write(data)
            if isinstance(leaves_after, asyncio.Event):
                await leaves_after.wait()
                self.reset()
                return received
            try:
                # On a busy machine the proxy may have given the upstream up before the client leaves.
                received.is_whole = await self._receive(received, is_bodiless, leaves_after)
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
        if leaves_after is not None and not received.is_whole:
            self.reset()
        elif not received.is_whole or received.fields.get("connection") == "close" or version == "1.0":
            await self._close()
        return received

    async def _receive(self, received, is_bodiless, enough):
        """Returns true once the response is whole, and false once there is enough of its body."""
        while received.status < 200:
            block = await self.reader.readuntil(b"\r\n\r\n")
            received.wire += len(block)
            line, *rest = block.decode("latin-1").split("\r\n")[:-2]
            received.status = int(line.split(" ")[1])
        received.fields = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in rest)}
        if is_bodiless or received.status in (204, 304):
            return True
        if "transfer-encoding" in received.fields:
            while True:
                line = await self.reader.readuntil(b"\r\n")
                size = int(line, 16)
                received.wire += len(line) + len(await self.reader.readexactly(size + 2))
                received.body += size
                if size == 0:
                    return True
        left = int(received.fields["content-length"]) if "content-length" in received.fields else 1 << 60
        while left and (enough is None or received.body < enough):
            piece = await self.reader.read(min(left, 1 << 16))
            received.body += len(piece)
            received.wire += len(piece)
            left -= len(piece)
            if not piece:
                if "content-length" in received.fields:
                    raise ConnectionError("cut off")
                return True
        return left == 0

    async def _close(self):
        """Closes after the server has, which tells that nothing more came."""
        writer, self.writer = self.writer, None
        try:
            if await self.reader.read():
                raise SystemExit("bytes behind a response")
        except ConnectionError:
            pass
        writer.close()

    def reset(self):
        writer, self.writer = self.writer, None
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()


class HTTP2:
    """One connection by prior knowledge, one request at a time."""

    def __init__(self, port):
        self.port, self.reader, self.writer, self.state = port, None, None, None

    async def _open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 17)
        self.state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        self.state.initiate_connection()

    async def ask(self, method, target, fields=(), content=b"", leaves_after=None):
        received = Received("HTTP/2.0")
        async with asyncio.timeout(SECONDS):
            if not self.writer:
                await self._open()
            stream = self.state.get_next_available_stream_id()
            head = [(":method", method), (":scheme", "http"), (":authority", "api.test"), (":path", target),
                    *((name.lower(), str(value)) for name, value in fields)]
            self.state.send_headers(stream, head, end_stream=not content)
            await self._upload(stream, content, received)
            self._flush()
            if isinstance(leaves_after, asyncio.Event):
                await leaves_after.wait()
            is_over = False
            while not (received.is_whole or isinstance(leaves_after, asyncio.Event) or received.body >= (leaves_after or 1 << 60)):
                if not await self._read(stream, received):
                    is_over = True
                    break
            # On a busy machine the proxy may have given the upstream up before the client leaves.
            if leaves_after is not None and not (received.is_whole or is_over):
                self.state.reset_stream(stream, error_code=8)
                self._flush()
                await self._settle()
        return received

    async def _upload(self, stream, content, received):
        at = 0
        while at < len(content):
            room = min(self.state.local_flow_control_window(stream), self.state.max_outbound_frame_size, len(content) - at)
            if room == 0:
                self._flush()
                await self._read(stream, received)
                continue
            self.state.send_data(stream, content[at:at + room], end_stream=at + room == len(content))
            at += room

    async def _read(self, stream, received):
        """Takes what comes; returns false once the stream has ended without its end."""
        data = await self.reader.read(1 << 16)
        if not data:
            raise SystemExit("an HTTP/2 connection ended")
        is_over = False
        for event in self.state.receive_data(data):
            match event:
                case h2.events.ResponseReceived(stream_id=number) if number == stream:
                    received.fields = dict(event.headers)
                    received.status = int(received.fields[":status"])
                case h2.events.DataReceived(stream_id=number):
                    self.state.acknowledge_received_data(event.flow_controlled_length, number)
                    if number == stream:
                        received.body += len(event.data)
                case h2.events.StreamEnded(stream_id=number) if number == stream:
                    received.is_whole = True
                case h2.events.StreamReset(stream_id=number) if number == stream:
                    is_over = True
        self._flush()
        return not is_over

    async def _settle(self):
        """Waits for the answer to a ping, so that the server has seen what was sent before."""
        self.state.ping(b"settled?")
        self._flush()
        while True:
            data = await self.reader.read(1 << 16)
            # The library itself returns the window of data for the stream that it has reset.
            events = self.state.receive_data(data)
            self._flush()
            if any(isinstance(event, h2.events.PingAckReceived) for event in events) or not data:
                return

    def _flush(self):
        self.writer.write(self.state.data_to_send())
