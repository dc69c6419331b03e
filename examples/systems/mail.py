"""MailServer: an SMTP server (aiosmtpd) behind a real socket, with commands for actions and reply codes to see."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import threading
from base64 import b64encode
from collections.abc import Sequence
from itertools import product
from typing import Any

import gymnasium
import numpy as np

from efex.graph import LatentGraph

try:
    from aiosmtpd import smtp
    from aiosmtpd.handlers import Sink
    from aiosmtpd.smtp import SMTP, AuthResult
except ModuleNotFoundError as error:
    raise SystemExit(f'{error}; this example needs pip install "efex[examples]"') from None

smtp.BOGUS_LIMIT = sys.maxsize  # else the sixth dot out of place ends the session

COMMANDS = {
    "HELO": "HELO client",
    "EHLO": "EHLO client",
    "AUTH": "AUTH PLAIN " + b64encode(b"\0student\0secret").decode(),
    "MAIL": "MAIL FROM:<a@example.org>",
    "RCPT": "RCPT TO:<b@example.org>",
    "DATA": "DATA",
    "DOT": ".",
    "RSET": "RSET",
    "NOOP": "NOOP",
    "QUIT": "QUIT",
}

PLAIN = ("HELO", "EHLO", "MAIL", "RCPT", "DATA", "RSET", "NOOP", "QUIT")
"""Commands that send a mail without a login."""

LOGIN = ("HELO", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", "RSET", "QUIT")
"""Commands with a login, which the server remembers as long as the session lasts."""

WHOLE = ("HELO", "MAIL", "RCPT", "DATA", "DOT", "RSET", "NOOP", "QUIT")
"""Commands that also end the text of a mail, so that the client is in the middle of it in between."""


class MailServer(gymnasium.Env[Any, Any]):
    """A client of a mail server on this machine: it sends one of some commands and sees the code of the reply.

    Where the server asks for the text of a mail, the client sends one and sees what the server says to that. After
    QUIT the client connects again and sees the server's greeting. A client that has the command DOT does neither by
    itself: until it sends a dot all commands are lines of the text, which the server does not answer, and after the
    reply to QUIT whatever it does is to connect.
    """

    def __init__(self, names: tuple[str, ...] = PLAIN) -> None:
        self.names = self.action_names = names
        self.action_space = gymnasium.spaces.Discrete(len(names))
        self.observation_space = gymnasium.spaces.Text(3, charset="0123456789")
        logging.getLogger("mail.log").setLevel(logging.ERROR)  # aiosmtpd warns of its own old attributes at every login
        self._loop = asyncio.new_event_loop()
        # Port 0: the system chooses one that is free.
        self._server = self._loop.run_until_complete(self._loop.create_server(self._protocol, "127.0.0.1", 0))
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._socket: socket.socket | None = None

    def _protocol(self) -> SMTP:
        return SMTP(
            Sink(),
            hostname="mail.example.org",
            auth_require_tls=False,
            authenticator=lambda *_: AuthResult(success=True),
            loop=self._loop,
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Connect; the server greets."""
        super().reset(seed=seed)
        self._seen = self._connect()
        return self._seen, {}

    def step(self, action: int) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Send a command."""
        name = self.names[action]
        if "DOT" in self.names:
            self._seen = self._step_by_step(name)
            return self._seen, 0.0, False, False, {}
        reply = self._say(COMMANDS[name])
        if reply == "354":
            reply = self._say("Subject: hello\r\n\r\nA short mail.\r\n.")
        if name == "QUIT":
            reply = self._connect()
        return reply, 0.0, False, False, {}

    def _step_by_step(self, name: str) -> str:
        """Return the code of the reply to a command, the last one where there is none."""
        if self._seen == "221":
            return self._connect()
        if self._seen == "354" and name != "DOT":
            assert self._socket is not None
            self._socket.sendall(COMMANDS[name].encode() + b"\r\n")
            return self._seen
        return self._say(COMMANDS[name])

    def close(self) -> None:
        """Stop the server."""
        self._hang_up()
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)

    def _connect(self) -> str:
        self._hang_up()
        self._socket = socket.create_connection(self._server.sockets[0].getsockname(), timeout=60)
        self._lines = self._socket.makefile("r", encoding="ascii", newline="\r\n")
        return self._reply()

    def _hang_up(self) -> None:
        if self._socket is not None:
            self._lines.close()
            self._socket.close()

    def _say(self, line: str) -> str:
        assert self._socket is not None
        self._socket.sendall(line.encode() + b"\r\n")
        return self._reply()

    def _reply(self) -> str:
        """Return the code of the next reply, which goes on as long as a dash follows it."""
        while (line := self._lines.readline())[3:4] == "-":
            pass
        if not line:
            raise ConnectionError("the mail server hung up in the middle of a session")
        return line[:3]

    def ask(self, commands: Sequence[int]) -> tuple[str, ...]:
        """Return every reply of a new session to some commands, its greeting first."""
        return (self.reset()[0], *(self.step(command)[0] for command in commands))

    def probe(self, depth: int = 2) -> LatentGraph:
        """Return the server's own machine by exhaustive search, which tries every command after every node found.

        Two sessions are at the same node when the last replies are equal, and so are all to the next `depth` commands.
        """
        n = len(self.names)
        futures = list(product(range(n), repeat=depth))

        def node(commands: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
            return tuple(self.ask(commands + future)[len(commands) :] for future in futures)

        ways: list[tuple[int, ...]] = [()]
        nodes, edges = {node(()): 0}, []
        for source, way in enumerate(ways):  # grows while it is read: breadth first
            for action in range(n):
                found = node((*way, action))
                if found not in nodes:
                    nodes[found] = len(nodes)
                    ways.append((*way, action))
                edges.append((action, source, nodes[found]))
        moves = np.zeros((n, len(nodes), len(nodes)))
        moves[tuple(np.transpose(edges))] = 1
        return LatentGraph.from_matrices([found[0][0] for found in nodes], list(moves), starts=[0])
