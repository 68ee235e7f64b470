"""The page's door: which browsers may come in. Without a robot and without viser."""

from __future__ import annotations

import asyncio
import socket

import pytest

from diffpbd.runtime.arms.local_page import admits, guard_websockets


@pytest.mark.parametrize(("hosts", "origins", "good"), [
    (["127.0.0.1:8080"], [], True),
    (["localhost:8080"], ["http://localhost:8080"], True),
    (["127.0.0.1:8080"], ["http://127.0.0.1:8080"], True),
    (["127.0.0.1:8081"], [], False),
    (["127.0.0.1"], [], False),
    (["evil.example:8080"], [], False),
    (["127.0.0.1.evil.example:8080"], [], False),
    ([], [], False),
    (["127.0.0.1:8080", "evil.example"], [], False),
    (["127.0.0.1:8080"], ["http://evil.example"], False),
    (["127.0.0.1:8080"], ["http://127.0.0.1:8081"], False),
    (["127.0.0.1:8080"], ["https://127.0.0.1:8080"], False),
    (["127.0.0.1:8080"], ["null"], False),
    (["127.0.0.1:8080"], ["http://127.0.0.1:8080", "http://evil.example"], False),
])  # fmt: skip
def test_who_is_let_in(hosts: list[str], origins: list[str], good: bool) -> None:
    assert admits(hosts, origins, 8080) is good


@pytest.mark.parametrize(("host", "origin", "status"), [
    ("127.0.0.1:{port}", None, b"101"),
    ("127.0.0.1:{port}", "http://127.0.0.1:{port}", b"101"),
    ("127.0.0.1:{port}", "http://evil.example", b"403"),
    ("evil.example", None, b"403"),
])  # fmt: skip
def test_a_server_asks(monkeypatch: pytest.MonkeyPatch, host: str, origin: str | None, status: bytes) -> None:
    server = pytest.importorskip("websockets.asyncio.server")
    monkeypatch.setattr(server, "serve", server.serve)  # put back afterwards
    guard_websockets()

    async def talk() -> bytes:
        async with server.serve(lambda connection: connection.wait_closed(), "127.0.0.1", 0) as found:
            port = found.sockets[0].getsockname()[1]
            words = [
                "GET / HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
                *([f"Origin: {origin}"] if origin else []), "", "",
            ]  # fmt: skip
            reader, writer = await asyncio.open_connection(sock=socket.create_connection(("127.0.0.1", port)))
            writer.write("\r\n".join(words).format(port=port).encode())
            line = await asyncio.wait_for(reader.readline(), 5.0)
            writer.close()
            return line.split()[1]

    assert asyncio.run(talk()) == status
