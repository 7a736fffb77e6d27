"""Runs with FMUs on another host, made of a network namespace: delayed, losing packets, cut."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from serving import Server
from wire import Wire, tun_device

from cosim_fmu import CoSimulation, CoSimulationError, ProcessParticipant
from cosim_master.processes import remote_session

MakeFmu = Callable[..., Path]
LINKS = ["a.x -> b.x_other", "a.v -> b.v_other", "b.force -> a.f"]
STARTS = {"b.kc": 3.0, "b.m": 2.0}
NET = f"10.231.{os.getpid() % 256}"  # several workers may have a host at a time
HERE, THERE = f"{NET}.1", f"{NET}.2"


def network(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


def why_not() -> str:
    """Why there can be no namespaces here, "" where there can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces are made by root on Linux"
    if shutil.which("ip") is None:
        return "there is no command ip (iproute2)"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    name = f"cosim-try-{os.getpid()}"
    made = network("netns", "add", name)
    network("netns", "delete", name)
    return "" if made.returncode == 0 else f"ip netns: {made.stderr.strip()}"


REASON = why_not()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON)


class OtherHost:
    """A namespace with a server, and the wire to it."""

    def __init__(self, folder: Path) -> None:
        self.name = f"cosim-{os.getpid()}"
        self.device, other = f"cs{os.getpid() % 10**7}", f"ct{os.getpid() % 10**7}"
        self.handles = [tun_device(self.device), tun_device(other)]
        inside = ("netns", "exec", self.name, "ip")
        for words in (
            ("netns", "add", self.name),
            ("link", "set", other, "netns", self.name),
            ("addr", "add", HERE, "peer", THERE, "dev", self.device),
            ("link", "set", self.device, "up"),
            (*inside, "addr", "add", THERE, "peer", HERE, "dev", other),
            (*inside, "link", "set", other, "up"),
            (*inside, "link", "set", "lo", "up"),
        ):
            done = network(*words)
            assert done.returncode == 0, f"{words}: {done.stderr}"
        self.wire = Wire(*self.handles)
        self.server = Server(folder, THERE, 7364, ("ip", "netns", "exec", self.name))

    def calm(self) -> None:
        self.wire.tell()

    def cut(self) -> None:
        self.wire.tell(loss=1.0)

    def close(self) -> None:
        self.server.close()
        self.wire.close()
        for handle in self.handles:  # the devices go with them
            os.close(handle)
        network("netns", "delete", self.name)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtherHost]:
    other = OtherHost(tmp_path_factory.mktemp("other"))
    yield other
    other.close()


@pytest.fixture
def other(made: OtherHost, monkeypatch: pytest.MonkeyPatch) -> Iterator[OtherHost]:
    monkeypatch.setenv("COSIM_TOKEN_FILE", str(made.server.token))
    yield made
    made.calm()


def loop(fmu: Path, host: str | None, names: str = "b") -> CoSimulation:
    parts: dict[str, Any] = dict.fromkeys("ab", fmu)
    if host is not None:
        parts |= {name: ProcessParticipant(fmu, name, host=host) for name in names}
    return CoSimulation(parts, LINKS, "jacobi", 0.1, starts=STARTS)


def assert_same(one: Any, other: Any) -> None:
    for name in one.names:
        assert one[name].tobytes() == other[name].tobytes(), name


@pytest.mark.thorough
def test_with_50_ms_of_delay_a_step_takes_one_round_trip(make_fmu: MakeFmu, other: OtherHost) -> None:
    fmu = make_fmu("mass")
    other.wire.tell(delay=0.025)
    points: list[float] = []

    def look(time: float, values: Any) -> None:
        points.append(perf_counter())

    there = loop(fmu, other.server.host, "ab").simulate(3.0, observe=look)
    assert_same(loop(fmu, None).simulate(3.0), there)
    steps = sorted(after - before for before, after in pairwise(points[5:]))
    assert 0.05 <= steps[0] < 0.1  # two round trips take 0.1 s at least


@pytest.mark.thorough
def test_where_packets_are_lost_the_bytes_are_the_same(make_fmu: MakeFmu, other: OtherHost) -> None:
    fmu = make_fmu("mass")
    other.wire.tell(delay=0.001, loss=0.1)
    assert_same(loop(fmu, None).simulate(5.0), loop(fmu, other.server.host).simulate(5.0))


@pytest.mark.thorough
def test_a_short_cut_is_waited_for(make_fmu: MakeFmu, other: OtherHost) -> None:
    fmu = make_fmu("mass")

    def cut(time: float, values: Any) -> None:
        if abs(time - 1.0) < 0.01:
            other.cut()
            threading.Timer(2.0, other.calm).start()

    assert_same(loop(fmu, None).simulate(2.0), loop(fmu, other.server.host).simulate(2.0, observe=cut))


@pytest.mark.thorough
@pytest.mark.parametrize("times", [1, pytest.param(100, marks=pytest.mark.thorough)])
def test_a_cut_ends_the_run_which_goes_on_from_its_checkpoint(
    make_fmu: MakeFmu, other: OtherHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Each time the server is killed and started again, as after a power cut."""
    monkeypatch.setattr(remote_session, "SECONDS_OF_SILENCE", 3.0)
    fmu, saved = make_fmu("mass"), tmp_path / "saved"
    whole = loop(fmu, None).simulate(2.0)
    for number in range(times):
        broken = loop(fmu, other.server.host)
        at = 0.2 + (number % 7) / 10

        def cut(time: float, values: Any, broken: CoSimulation = broken, at: float = at) -> None:
            if abs(time - at) < 0.01:
                saved.write_bytes(broken.save())
            if time > at + 0.15:
                other.cut()

        with pytest.raises(CoSimulationError, match="tcp://.*: no data.* 3 s"):
            broken.simulate(2.0, observe=cut)
        assert broken.result is not None and broken.result.time[-1] == pytest.approx(at + 0.2)
        other.calm()
        other.server.kill()
        other.server.restart()
        resumed = loop(fmu, other.server.host)
        resumed.restore(saved)
        assert_same(whole, resumed.simulate(2.0))
