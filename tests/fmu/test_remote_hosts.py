"""Hosts of FMUs: servers that ssh starts, addresses and their faults, hosts in scenarios."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from in_a_process import Ramp
from remote_star import star
from same_results import assert_same
from serving import Server, take_kernels, write_ssh
from star_of_fmus import NAMES, STAR

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation, CoSimulationError, ProcessParticipant
from cosim_fmu.scenario.scenario import Scenario
from cosim_master.processes.host import Host

MakeFmu = Callable[..., Path]

WRONG_ADDRESSES: list[Any] = [
    *("", "here", "tcp://", "tcp://:1", "tcp://a:0", "tcp://a:65536", "tcp://a:x", "tcp://u@a", "tcp://a/b"),
    *("ssh://", "ssh://-oProxyCommand=x", "ssh://u@-oProxyCommand=x", "ssh://-l@a", "ssh://u:p@a"),
    *("ssh://a b", "ssh://a/$(x)", "ssh://a/b;c", "ssh://a?b", "ssh://a#b", "http://a", "ssh://a\n"),
    *(5, b"ssh://a"),
]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.mark.thorough
def test_ssh_starts_a_server(make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_ssh(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("COSIM_CACHE_DIR", str(tmp_path / "cache"))
    take_kernels(tmp_path / "cache" / "kernels")
    fmu = make_fmu("heavy")
    local, remote = (
        CoSimulation(parts, STAR, "jacobi", 0.1, starts={"a.y": 1.0}).simulate(1.0)
        for parts in (dict.fromkeys(NAMES, fmu), star(fmu, "ssh://someone@example.org:2222"))
    )
    assert_same(local, remote)
    arguments = (tmp_path / "bin" / "words").read_text().split("\n")
    assert arguments[-6:] == ["-l", "someone", "--", "example.org", "cosim serve --stdio", ""]
    assert arguments[arguments.index("-p") + 1] == "2222" and "BatchMode=yes" in arguments


def test_the_error_quotes_ssh(make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_ssh(tmp_path / "bin", before="echo 'Permission denied (publickey).' >&2; exit 255")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    part = ProcessParticipant(make_fmu("heavy"), host="ssh://example.org")
    with pytest.raises(cosim.CosimError) as caught:
        part.initialize(0.0, None, {})
    assert str(caught.value) == (
        "ssh://example.org: the connection was closed before a server of cosim answered; ssh ended with "
        'status 255: "Permission denied (publickey)."'
    )
    part.close()

    # a program that answers without end and is no server
    write_ssh(tmp_path / "bin", before="cat /dev/zero; exit 0")
    with pytest.raises(cosim.CosimError, match="cosim answers"):
        part.initialize(0.0, None, {})


def test_a_killed_ssh_is_a_lost_connection(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_ssh(tmp_path / "bin", before=f"echo $$ > {tmp_path}/process")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)

    def kill(simulated_time: float, values: Any) -> None:
        if simulated_time > 0.25:
            os.kill(int((tmp_path / "process").read_text()), signal.SIGKILL)
            time.sleep(1.0)  # until the process that ssh had started has ended

    loop = CoSimulation(star(make_fmu("heavy"), "ssh://example.org", "a"), [], "jacobi", 0.1)
    with pytest.raises(CoSimulationError, match="ssh://example.org.*connection was lost"):
        loop.simulate(1.0, observe=kill)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.3)


@pytest.mark.parametrize("text", WRONG_ADDRESSES)
def test_wrong_addresses_are_refused(make_fmu: MakeFmu, text: Any) -> None:
    with pytest.raises(cosim.ModelError, match='host.*needs "ssh://user@machine" or "tcp://machine:port"'):
        ProcessParticipant(make_fmu("heavy"), host=text)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("tcp://a", "tcp://a:7364"),
        ("tcp://[::1]:9", "tcp://[::1]:9"),
        ("ssh://me@a.b:22/opt/my venv/bin/cosim", "ssh://me@a.b:22/opt/my venv/bin/cosim"),
        ("ssh://a", "ssh://a"),
    ],
)
def test_addresses_of_hosts(text: str, address: str) -> None:
    host = Host.of(text)
    assert str(host) == address
    if host.program:
        assert host.ssh_words()[-1] == "'/opt/my venv/bin/cosim' serve --stdio"


def test_only_fmus_can_have_a_host() -> None:
    with pytest.raises(cosim.ModelError, match="host.*is for FMUs"):
        ProcessParticipant(Ramp, host="ssh://a")


def test_hosts_in_a_scenario(
    make_fmu: MakeFmu, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("heavy")
    text = f"""
[participants.a]
fmu = "heavy.fmu"
host = "{server.host}"
timeout = "10 s"
parameters = {{ y = 1.0 }}
[participants.b]
fmu = "heavy.fmu"
host = "{server.host}"
process = true
[participants.c]
fmu = "heavy.fmu"
[[connections]]
from = "a.y"
to = "b.u"
[master]
algorithm = "jacobi"
step = 0.1
until = 0.5
"""
    file = tmp_path / "loop.toml"
    file.write_text(text)
    assert main(["cosimulate", str(file), "-o", str(tmp_path / "out.csv")]) == 0
    output = capsys.readouterr().out
    assert f"FMUs at {server.host}: a, b" in output and "on another machine" in output
    assert "FMUs inside the process" in output

    # a wrong address, and a timeout without a process
    text = text.replace(f'"{server.host}"', '"ftp://x"', 1)
    file.write_text(text.replace('heavy.fmu"\n[[', 'heavy.fmu"\ntimeout = 1\n[['))
    with pytest.raises(cosim.ModelError) as caught:
        Scenario.read(file).couple(CoSimulation)
    assert "host: is 'ftp://x', needs \"ssh://user@machine\"" in str(caught.value)
    assert "timeout: needs process =" in str(caught.value)
