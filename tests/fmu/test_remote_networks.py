"""Runs with FMUs in another network namespace survive delays and lost packets; a cut is an error."""

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
from same_results import assert_same
from serving import Server
from wire import Wire, tun_device

from cosim_fmu import CoSimulation, CoSimulationError, ProcessParticipant
from cosim_master.processes import remote_session

MakeFmu = Callable[..., Path]
LINKS = ["a.x -> b.x_other", "a.v -> b.v_other", "b.force -> a.f"]
STARTS = {"b.kc": 3.0, "b.m": 2.0}
NET = f"10.231.{os.getpid() % 256}"  # different in each worker of the tests
LOCAL_ADDRESS, REMOTE_ADDRESS = f"{NET}.1", f"{NET}.2"


def ip(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)


def why_skipped() -> str:
    """Why this machine cannot make network namespaces; "" if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces need root on Linux"
    if shutil.which("ip") is None:
        return "there is no command ip (iproute2)"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    name = f"cosim-try-{os.getpid()}"
    done = ip("netns", "add", name)
    ip("netns", "delete", name)
    return "" if done.returncode == 0 else f"ip netns: {done.stderr.strip()}"


REASON = why_skipped()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON)


class OtherHost:
    """A namespace with a server, and the wire to it."""

    def __init__(self, folder: Path) -> None:
        self.name = f"cosim-{os.getpid()}"
        local, remote = f"cs{os.getpid() % 10**7}", f"ct{os.getpid() % 10**7}"
        self.handles = [tun_device(local), tun_device(remote)]
        inside = ("netns", "exec", self.name, "ip")
        for arguments in (
            ("netns", "add", self.name),
            ("link", "set", remote, "netns", self.name),
            ("addr", "add", LOCAL_ADDRESS, "peer", REMOTE_ADDRESS, "dev", local),
            ("link", "set", local, "up"),
            (*inside, "addr", "add", REMOTE_ADDRESS, "peer", LOCAL_ADDRESS, "dev", remote),
            (*inside, "link", "set", remote, "up"),
            (*inside, "link", "set", "lo", "up"),
        ):
            done = ip(*arguments)
            assert done.returncode == 0, f"{arguments}: {done.stderr}"
        self.wire = Wire(*self.handles)
        self.server = Server(folder, REMOTE_ADDRESS, 7364, ("ip", "netns", "exec", self.name))

    def restore(self) -> None:
        """Carry all packets at once."""
        self.wire.tell()

    def cut(self) -> None:
        """Lose all packets."""
        self.wire.tell(loss=1.0)

    def close(self) -> None:
        self.server.close()
        self.wire.close()
        for handle in self.handles:  # the devices go with them
            os.close(handle)
        ip("netns", "delete", self.name)


@pytest.fixture(scope="module")
def shared_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtherHost]:
    host = OtherHost(tmp_path_factory.mktemp("other_host"))
    yield host
    host.close()


@pytest.fixture
def other_host(shared_host: OtherHost, monkeypatch: pytest.MonkeyPatch) -> Iterator[OtherHost]:
    """The shared host; the environment has its token, and its wire is restored after the test."""
    monkeypatch.setenv("COSIM_TOKEN_FILE", str(shared_host.server.token))
    yield shared_host
    shared_host.restore()


def two_masses(fmu: Path, host: str | None = None, names: str = "b") -> CoSimulation:
    """Masses a and b; with a host, those in `names` are there."""
    parts: dict[str, Any] = dict.fromkeys("ab", fmu)
    if host is not None:
        parts |= {name: ProcessParticipant(fmu, name, host=host) for name in names}
    return CoSimulation(parts, LINKS, "jacobi", 0.1, starts=STARTS)


@pytest.mark.thorough
def test_with_50_ms_of_delay_a_step_takes_one_round_trip(make_fmu: MakeFmu, other_host: OtherHost) -> None:
    fmu = make_fmu("mass")
    other_host.wire.tell(delay=0.025)
    clock_times: list[float] = []

    def record_time(time: float, values: Any) -> None:
        clock_times.append(perf_counter())

    remote = two_masses(fmu, other_host.server.host, "ab").simulate(3.0, observe=record_time)
    assert_same(two_masses(fmu).simulate(3.0), remote)
    durations = sorted(after - before for before, after in pairwise(clock_times[5:]))
    assert 0.05 <= durations[0] < 0.1  # two round trips take 0.1 s at least


@pytest.mark.thorough
def test_lost_packets_do_not_change_the_bytes(make_fmu: MakeFmu, other_host: OtherHost) -> None:
    fmu = make_fmu("mass")
    other_host.wire.tell(delay=0.001, loss=0.1)
    assert_same(two_masses(fmu).simulate(5.0), two_masses(fmu, other_host.server.host).simulate(5.0))


@pytest.mark.thorough
def test_a_run_waits_out_a_short_cut(make_fmu: MakeFmu, other_host: OtherHost) -> None:
    fmu = make_fmu("mass")

    def cut_for_2_s(time: float, values: Any) -> None:
        if abs(time - 1.0) < 0.01:
            other_host.cut()
            threading.Timer(2.0, other_host.restore).start()

    assert_same(
        two_masses(fmu).simulate(2.0),
        two_masses(fmu, other_host.server.host).simulate(2.0, observe=cut_for_2_s),
    )


@pytest.mark.thorough
@pytest.mark.parametrize("times", [1, 100])
def test_a_run_that_a_cut_has_ended_is_resumed_from_its_checkpoint(
    make_fmu: MakeFmu, other_host: OtherHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Between the runs the server is killed and restarted, as after a power cut."""
    monkeypatch.setattr(remote_session, "SECONDS_OF_SILENCE", 3.0)
    fmu, saved = make_fmu("mass"), tmp_path / "saved"
    expected = two_masses(fmu).simulate(2.0)
    for number in range(times):
        interrupted = two_masses(fmu, other_host.server.host)
        save_time = 0.2 + (number % 7) / 10

        def save_and_cut(
            time: float, values: Any, interrupted: CoSimulation = interrupted, save_time: float = save_time
        ) -> None:
            if abs(time - save_time) < 0.01:
                saved.write_bytes(interrupted.save())
            if time > save_time + 0.15:
                other_host.cut()

        with pytest.raises(CoSimulationError, match="tcp://.*: no data.* 3 s"):
            interrupted.simulate(2.0, observe=save_and_cut)
        assert interrupted.result is not None and interrupted.result.time[-1] == pytest.approx(
            save_time + 0.2
        )
        other_host.restore()
        other_host.server.kill()
        other_host.server.restart()
        resumed = two_masses(fmu, other_host.server.host)
        resumed.restore(saved)
        assert_same(expected, resumed.simulate(2.0))
