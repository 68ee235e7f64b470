"""Access control of a locally served page: only local browsers, only for pages of this server.

Any web page that a browser has open may send requests to 127.0.0.1, under a name of its own that it points there (DNS
rebinding) or as a websocket, which no browser forbids. Host and origin tell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["admits", "guard_websockets"]

NAMES = ("127.0.0.1", "localhost")
REFUSAL = "This page is for browsers on its own machine: open it as http://127.0.0.1:PORT.\n"


def admits(hosts: list[str], origins: list[str], port: int) -> bool:
    """Whether a request with these Host and Origin headers, to this port, comes from a page of ours or from no page."""
    own = [f"{name}:{port}" for name in NAMES]
    return (
        len(hosts) == 1 and hosts[0] in own and all(origin in [f"http://{name}" for name in own] for origin in origins)
    )


def guard_websockets() -> None:
    """Have every server that `websockets` starts in this process ask `admits` first: viser asks nobody."""
    import websockets.asyncio.server as server

    plain: Any = server.serve

    def serve(*words: Any, process_request: Callable[..., Any] | None = None, **options: Any) -> Any:
        def checked(connection: Any, request: Any) -> Any:
            hosts, origins = (request.headers.get_all(name) for name in ("Host", "Origin"))
            if not admits(hosts, origins, connection.local_address[1]):
                return connection.respond(403, REFUSAL)
            return process_request(connection, request) if process_request is not None else None

        return plain(*words, process_request=checked, **options)

    server.serve = serve  # type: ignore[assignment,misc,unused-ignore]
