"""A process of participants on another machine."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import cosim
from cosim.kit import file_digest
from cosim_master.processes.calls import Call
from cosim_master.processes.channel import MessageError, SocketChannel
from cosim_master.processes.host import Host, connect
from cosim_master.processes.sent_fmus import HAS, PIECE, SEND
from cosim_master.processes.session import Session, Ticket

SECONDS_OF_SILENCE = 20.0
"""Silence during a call after which a connection is lost, s; a busy process sends signs of life."""
SECONDS_TO_BEGIN = 60.0
"""Silence of a new process, which imports its modules, s."""
SECONDS_TO_WELCOME = 30.0


class RemoteSession(Session):
    """A process that a server has started on another machine.

    Parameters
    ----------
    host : Host

    Raises
    ------
    CosimError
        The machine cannot be reached, or its server refuses us.
    """

    def __init__(self, host: Host) -> None:
        self.host = str(host)
        self._connection = connect(host)
        super().__init__(SocketChannel(self._connection.socket))
        self._reason_of_end = ""
        self._last_call: tuple[int, str] = 0, ""
        self._sent_digests = set[str]()
        try:
            self._welcome()
        except BaseException:
            self.end()
            raise

    @property
    def silence_limit(self) -> float:
        """The time within which a sign of life has to come while a call is awaited, s."""
        return SECONDS_OF_SILENCE if self._has_begun else SECONDS_TO_BEGIN

    def send_fmu(self, path: Path, limit: float | None) -> str:
        """The SHA-256 of a file, which is sent if the other machine does not have it.

        Raises
        ------
        FmuError
            The file cannot be read.
        """
        digest = file_digest(path).get("sha256", "")
        if digest in self._sent_digests:
            return digest
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if not self._request(HAS, [digest, size], limit):
                    self._send_pieces(file, digest, size, limit)
        except OSError as error:
            raise cosim.FmuError(str(path), f"cannot be read: {error.strerror or error}") from None
        self._sent_digests.add(digest)
        return digest

    def _send_pieces(self, file: IO[bytes], digest: str, size: int, limit: float | None) -> None:
        """Send a file, which may become shorter meanwhile."""
        sent, is_last = 0, False
        while not is_last:
            data = file.read(PIECE)
            sent += len(data)
            is_last = sent >= size or not data
            self._request(SEND, [digest, data, is_last], limit)

    def _request(self, name: str, arguments: list[Any], limit: float | None) -> Any:
        return self.answer(self.post(Call(0, name, arguments)), limit)

    def _welcome(self) -> None:
        """Read the greeting of the server: a refusal, or its version, which has to be ours."""
        try:
            if not self._channel.wait(SECONDS_TO_WELCOME):
                raise cosim.CosimError(f"{self.host}: did not answer within {SECONDS_TO_WELCOME:g} s")
            greeting = self._channel.receive()
            if refused := greeting["refused"]:
                raise cosim.CosimError(f"{self.host}: {refused}")
            if greeting["cosim"] != cosim.__version__:
                text = f"has cosim {greeting['cosim']!s:.40}, here is {cosim.__version__}"
                raise cosim.CosimError(f"{self.host}: {text}: install the same version on both machines")
        except (EOFError, OSError, MessageError, KeyError, TypeError):
            text = "the connection was closed before the server said who it is"
            raise cosim.CosimError(f"{self.host}: {text}{self._connection.ssh_ending()}") from None

    def _call_under_way(self, ticket: Ticket) -> tuple[int, str]:
        return ticket.number, ticket.name

    def _record_end(self, message: dict[str, Any]) -> None:
        self._reason_of_end = str(message["ended"])
        self._last_call = int(message["number"]), str(message["name"])

    def _reason(self, ticket: Ticket) -> str:
        if self._reason_of_end:
            ending, _, printed = self._reason_of_end.partition("\n")
            return f"{ending} in {self._place(*self._last_call, ticket)}{printed}"
        return f"the connection was lost in {ticket.name}{self._connection.ssh_ending()}"

    def kill(self) -> None:
        """Cut the connection: the server ends the process there."""
        with suppress(OSError):
            self._connection.socket.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Close the connection: the process there ends."""
        self.kill()
        self._connection.close()
