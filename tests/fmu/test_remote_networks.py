"""Runs with FMUs on another host, made of a network namespace: delayed, losing packets, cut."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import Server

from cosim_fmu import CoSimulation, CoSimulationError, ProcessParticipant
from cosim_master.processes import remote_session

MakeFmu = Callable[..., Path]
LINKS = ["a.x -> b.x_other", "a.v -> b.v_other", "b.force -> a.f"]
STARTS = {"b.kc": 3.0, "b.m": 2.0}
HERE, THERE = "10.231.54.1", "10.231.54.2"


def network(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


def why_not() -> str:
    """Why there can be no namespaces here, "" where there can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces are made by root on Linux"
    if shutil.which("ip") is None:
        return "there is no command ip (iproute2)"
    name = f"cosim-try-{os.getpid()}"
    made = network("netns", "add", name)
    network("netns", "delete", name)
    return "" if made.returncode == 0 else f"ip netns: {made.stderr.strip()}"


REASON = why_not()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON)


class OtherHost:
    """A namespace with a server, and the link to it."""

    def __init__(self, folder: Path) -> None:
        self.name, self.link = f"cosim-{os.getpid()}", f"cs{os.getpid() % 10**6}"
        inside = ("netns", "exec", self.name, "ip")
        for words in (
            ("netns", "add", self.name),
            ("link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.name),
            ("addr", "add", f"{HERE}/30", "dev", self.link),
            ("link", "set", self.link, "up"),
            (*inside, "addr", "add", f"{THERE}/30", "dev", "eth0"),
            (*inside, "link", "set", "eth0", "up"),
            (*inside, "link", "set", "lo", "up"),
        ):
            done = network(*words)
            assert done.returncode == 0, done.stderr
        self.server = Server(folder, THERE, 7364, ("ip", "netns", "exec", self.name))

    def disturb(self, *words: str) -> str:
        """Have packets delayed or lost on the way there; what stands in the way of that."""
        done = subprocess.run(
            ["tc", "qdisc", "replace", "dev", self.link, "root", "netem", *words],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stderr.strip()

    def calm(self) -> None:
        subprocess.run(["tc", "qdisc", "delete", "dev", self.link, "root"], capture_output=True, check=False)

    def set(self, state: str) -> None:
        network("link", "set", self.link, state)

    def close(self) -> None:
        self.server.close()
        network("link", "delete", self.link)
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
    made.set("up")


def loop(fmu: Path, host: str | None, names: str = "b") -> CoSimulation:
    parts: dict[str, Any] = dict.fromkeys("ab", fmu)
    if host is not None:
        parts |= {name: ProcessParticipant(fmu, name, host=host) for name in names}
    return CoSimulation(parts, LINKS, "jacobi", 0.1, starts=STARTS)


def assert_same(one: Any, other: Any) -> None:
    for name in one.names:
        assert one[name].tobytes() == other[name].tobytes(), name


def test_with_50_ms_of_delay_a_step_takes_one_round_trip(make_fmu: MakeFmu, other: OtherHost) -> None:
    fmu = make_fmu("mass")
    if refusal := other.disturb("delay", "50ms"):
        pytest.skip(f"tc netem: {refusal}")
    points: list[float] = []

    def look(time: float, values: Any) -> None:
        from time import perf_counter

        points.append(perf_counter())

    there = loop(fmu, other.server.host, "ab").simulate(3.0, observe=look)
    assert_same(loop(fmu, None).simulate(3.0), there)
    steps = sorted(after - before for before, after in zip(points[5:], points[6:], strict=False))
    assert 0.05 <= steps[0] and steps[len(steps) // 2] < 0.1  # two round trips would take 0.1 s


def test_where_packets_are_lost_the_bytes_are_the_same(make_fmu: MakeFmu, other: OtherHost) -> None:
    fmu = make_fmu("mass")
    if refusal := other.disturb("loss", "10%", "delay", "2ms", "1ms"):
        pytest.skip(f"tc netem: {refusal}")
    assert_same(loop(fmu, None).simulate(5.0), loop(fmu, other.server.host).simulate(5.0))


def test_a_short_cut_is_waited_for(make_fmu: MakeFmu, other: OtherHost) -> None:
    import threading

    fmu = make_fmu("mass")

    def cut(time: float, values: Any) -> None:
        if abs(time - 1.0) < 0.01:
            other.set("down")
            threading.Timer(2.0, other.set, ["up"]).start()

    assert_same(loop(fmu, None).simulate(2.0), loop(fmu, other.server.host).simulate(2.0, observe=cut))


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
                other.set("down")

        with pytest.raises(CoSimulationError, match=r"b: tcp://.*: nothing has come from there for 3 s in step"):
            broken.simulate(2.0, observe=cut)
        assert broken.result is not None and broken.result.time[-1] == pytest.approx(at + 0.2)
        other.set("up")
        other.server.kill()
        other.server.restart()
        resumed = loop(fmu, other.server.host)
        resumed.restore(saved)
        assert_same(whole, resumed.simulate(2.0))
