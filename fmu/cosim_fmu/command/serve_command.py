"""``cosim serve``: participants for runs on other machines."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import ClassVar

import cosim
from cosim_master.processes.greeting import read_token
from cosim_master.processes.host import PORT

LOOPBACK = "127.0.0.1"


class ServeCommand(cosim.Command):
    """Run FMUs for co-simulations on other machines."""

    name: ClassVar[str] = "serve"
    summary: ClassVar[str] = "run FMUs for co-simulations on other machines"
    examples = (
        ("cosim serve --token-file ~/.cosim-token", "for this machine only, and tunnels to it"),
        ("cosim serve --listen 10.0.0.7 --port 7364 --token-file ~/.cosim-token", "for a network"),
        ("cosim serve --stdio", 'started by host = "ssh://user@machine"'),
    )

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the address, and the token that clients need."""
        parser.add_argument(
            "--listen",
            metavar="ADDRESS",
            default=LOOPBACK,
            help="address to listen on; 0.0.0.0 for all (127.0.0.1)",
        )
        parser.add_argument(
            "--port", type=_port, default=PORT, metavar="N", help=f"port, or 0 for any free port ({PORT})"
        )
        parser.add_argument(
            "--token-file",
            type=Path,
            metavar="FILE",
            help="file with the secret of the clients (COSIM_TOKEN_FILE; or the secret itself, COSIM_TOKEN)",
        )
        parser.add_argument(
            "--stdio", action="store_true", help="one run over standard input and output, without a token"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Serve until Ctrl-C or SIGTERM; with ``--stdio`` until the run ends."""
        if os.name == "nt":
            raise cosim.CosimError(
                "cosim serve runs on Linux and macOS only; a Windows machine can run the master"
            )
        from cosim_master.processes import participant_server

        if arguments.stdio:
            participant_server.serve_pipes()
            return 0
        token = read_token(arguments.token_file)
        try:
            server = participant_server.ParticipantServer(arguments.listen, arguments.port, token)
        except OSError as error:
            where = f"{arguments.listen}:{arguments.port}"
            raise cosim.CosimError(f"{where}: cannot listen here: {error.strerror or error}") from None
        participant_server.print_serving(server, arguments.listen)
        try:
            server.serve()
        except KeyboardInterrupt:
            server.close()
            raise
        return 0


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number < 65536:
        raise argparse.ArgumentTypeError(f"{text} is not a port")
    return number
