"""Starts servers of participants for tests, and writes a stand-in for ssh that starts one on this machine."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from cosim import kit
from cosim_compiler import kernel_cache

KERNELS = "kernels-of-servers"  # the entry of the cache that lists the files of kernels
SERVE = "from cosim.cli import main; import sys; sys.exit(main())"
SSH = """#!/bin/sh
printf '%s\\n' "$@" > {words}
echo "You have mail."
eval "last=\\${{$#}}"
case "$last" in {expected}) ;; *) echo "unexpected: $last" >&2; exit 9;; esac
{before}
exec {python} -c {code} serve --stdio
"""


class Server:
    """``cosim serve`` in a process.

    Parameters
    ----------
    folder : Path
        For its token, its log and what it stores.
    prefix : sequence of str
        Words before its command, as in ``ip netns exec NAME cosim serve``.
    """

    def __init__(
        self, folder: Path, address: str = "127.0.0.1", port: int = 0, prefix: tuple[str, ...] = ()
    ) -> None:
        self.folder, self.address, self.prefix = folder, address, prefix
        self.token, self.log = folder / "token", folder / "serve.log"
        self.store = folder / "stored"
        if not self.token.exists():
            self.token.touch(mode=0o600)
            self.token.write_text(secrets.token_hex(32))
        self.environment = {**os.environ, "COSIM_CACHE_DIR": str(self.store)}
        self.environment.pop("COSIM_TOKEN", None)
        self.environment.pop("COSIM_TOKEN_FILE", None)
        take_kernels(self.store / "kernels")
        self.start(port)

    def start(self, port: int) -> None:
        words = [*self.prefix, sys.executable, "-c", SERVE, "serve", "--listen", self.address]
        words += ["--port", str(port), "--token-file", str(self.token)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=log, env=self.environment, start_new_session=True
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        assert line.startswith("serving participants at tcp://"), self.log.read_text()
        self.port = int(line.rpartition(":")[2])

    @property
    def host(self) -> str:
        return f"tcp://{self.address}:{self.port}"

    def workers(self) -> list[int]:
        """Ids of the processes of participants."""
        ids = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if int(path.read_text().rpartition(")")[2].split()[1]) == self.process.pid:
                    ids.append(int(path.parent.name))
        return ids

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def restart(self) -> None:
        self.start(self.port)

    def close(self) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)
        self.kill()
        keep_kernels(self.store / "kernels")


def take_kernels(folder: Path) -> None:
    """Copy kernels that servers of other tests have compiled to a new store; compiling takes seconds."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in json.loads(kit.read_cached(KERNELS) or "[]"):
        with suppress(OSError):
            shutil.copy2(kernel_cache.folder() / name, folder)


def keep_kernels(folder: Path) -> None:
    """Copy the kernels of a store to our cache, for `take_kernels`."""
    cache = kernel_cache.folder()
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    if cache is not None:
        for name in names:
            if not (cache / name).exists():
                shutil.copy2(folder / name, cache)
        kit.write_cached(KERNELS, json.dumps(names).encode())


def write_ssh(folder: Path, before: str = "", program: str = "cosim") -> Path:
    """Write a command ``ssh`` into a folder for PATH; it writes its arguments to ``words`` there."""
    folder.mkdir(exist_ok=True)
    text = SSH.format(
        words=shlex.quote(str(folder / "words")),
        expected=f"{shlex.quote(program)}' serve --stdio'",
        before=before,
        python=shlex.quote(sys.executable),
        code=shlex.quote(SERVE),
    )
    path = folder / "ssh"
    path.write_text(text)
    path.chmod(0o755)
    return path
