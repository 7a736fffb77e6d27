"""A State saved at the end of any step goes on to the same bytes; how checkpoints are written."""

import itertools
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kernel_parts import BouncingBall, Clock, system_of

import cosim


class Waiting(Clock):
    """Wakes up later and later."""

    wake = cosim.timer(start=0.1)
    naps = cosim.discrete(dtype=int)

    @cosim.on(wake, does="discrete")
    def sleep(t, naps, wake_next, naps_next):
        wake_next[0] = 1.5 * t
        naps_next[0] = naps + 1


def make_system():
    model = cosim.Model("run")
    model.add(BouncingBall, "ball", restitution=0.4)
    model.add(Waiting, "waiting")
    model.add("measures.delay", "late", source="ball.height", delay=0.15)
    return model.build()


@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince", "tsitouras"])
def test_going_on_from_any_step_end_gives_the_same_bytes(method):
    options = {"integrator": f"integrators.{method}", "accuracy": 1e-6}
    system = make_system()
    simulator = cosim.Simulator(system, **options)
    saved = []
    simulator.set_monitor(lambda state: saved.append(state.to_bytes()))
    simulator.advance_to(1.5)
    kinds = [f.kind for f in simulator.findings]
    assert kinds == ["zeno", "held"]
    assert simulator.state["waiting.naps"] == 7
    assert len(saved) > 30
    simulator.clear_monitor()
    simulator.advance_pending_events()
    end = simulator.state.to_bytes()
    for data in saved[:: len(saved) // 12]:
        resumed = cosim.Simulator(system, system.state_from_bytes(data), **options)
        resumed.advance_to(1.5)
        resumed.advance_pending_events()
        assert resumed.state.to_bytes() == end


def test_files_are_replaced_whole(tmp_path):
    system = system_of(ball=BouncingBall)
    path = tmp_path / "ball.state"
    checkpoint = cosim.Checkpoint(path, every=1e-9)
    cosim.simulate(system, until=0.7, checkpoint=checkpoint)
    assert [p.name for p in tmp_path.iterdir()] == ["ball.state"]
    assert cosim.read_checkpoint(system, path).time == 0.7
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(cosim.StateError, match=r"ball\.state.*State are damaged"):
        cosim.read_checkpoint(system, path)


def test_every_so_many_seconds(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("cosim.simulation.checkpoint.wall.monotonic", lambda: now[0])
    checkpoint = cosim.Checkpoint(tmp_path / "a.state", every=30.0)
    assert not checkpoint.is_due
    now[0] = 29.0
    assert not checkpoint.is_due
    now[0] = 31.0
    assert checkpoint.is_due
    checkpoint.write(system_of(ball=BouncingBall).default_state())
    assert checkpoint.path.exists() and not checkpoint.is_due


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_run(tmp_path, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    checkpoint = cosim.Checkpoint(tmp_path / "a.state", every=1e-9)
    monkeypatch.setattr(os, "replace", full)
    with caplog.at_level(logging.WARNING, "cosim.simulation"):
        result = cosim.simulate(system_of(ball=BouncingBall), until=0.1, checkpoint=checkpoint)
    assert result.time[-1] == 0.1
    assert "written: No space" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_after_a_failure_it_holds_the_last_good_state(tmp_path):
    class Failing(Clock):
        """Fails at 0.5 s."""

        @cosim.at([0.5], does="discrete")
        def fail(self, state, next_state):
            raise RuntimeError("broken")

    system = system_of(failing=Failing)
    checkpoint = cosim.Checkpoint(tmp_path / "a.state")
    with pytest.raises(cosim.SimulationError):
        cosim.simulate(system, until=1.0, checkpoint=checkpoint)
    assert cosim.read_checkpoint(system, checkpoint.path).time == 0.5


@pytest.mark.parametrize(("path", "every", "text"), [("no/a", 1.0, "cannot be written"), ("a", 0.0, "0 s")])
def test_refused(tmp_path, path, every, text):
    with pytest.raises(cosim.CosimError, match=text):
        cosim.Checkpoint(tmp_path / path, every)


def test_results_so_far_are_kept_and_not_too_often(monkeypatch, caplog):
    now, kept = [0.0], []
    monkeypatch.setattr("cosim.simulation.result_drafts.wall.monotonic", lambda: now[0])

    monkeypatch.setattr("cosim.simulation.stride.FIRST_STRIDE", 1)
    monkeypatch.setattr("cosim.simulation.stride.PATIENCE", 0.0)

    def keep(result):
        kept.append((now[0], result.time[-1]))
        now[0] += 1.0  # it takes a second
        if len(kept) == 2:
            raise cosim.CosimError("no space left")

    def tick(time):
        now[0] += 4.0

    with caplog.at_level(logging.WARNING, "cosim.simulation"):
        cosim.simulate(system_of(ball=BouncingBall), until=0.4, maximum_step=0.01, keep=keep, progress=tick)
    assert "kept: no space" in caplog.text
    assert len(kept) > 5
    starts = [time for time, _ in kept]
    assert starts[0] == 12.0
    assert all(21.0 <= later - earlier <= 25.0 for earlier, later in itertools.pairwise(starts))
    assert [time for _, time in kept] == sorted({time for _, time in kept})


SUDDEN = """
import os, signal, sys
import cosim
from cosim.simulation import result_drafts, stride
from kernel_parts import BouncingBall, system_of

result_drafts.EVERY = result_drafts.SHARE = 0.0
stride.FIRST_STRIDE, stride.PATIENCE = 1, 0.0

def stop(time):
    if time > 0.6:
        os.kill(os.getpid(), signal.SIGKILL)

cosim.simulate(
    system_of(ball=BouncingBall), until=1.0, signals=["ball.height"], maximum_step=0.01,
    keep=lambda result: result.to_csv(sys.argv[1]), progress=stop,
)
"""


def test_a_kill_loses_nothing_but_the_last_seconds(tmp_path):
    path = tmp_path / "ball.csv"
    ended = subprocess.run([sys.executable, "-c", SUDDEN, str(path)], cwd=Path(__file__).parent, check=False)
    assert ended.returncode == -9
    *_, last_row, says = path.read_text("utf-8").splitlines()
    last = last_row.split(",")
    assert says.startswith("# not whole")
    assert 0.58 < float(last[0]) <= 0.62
    assert float(last[1]) > 0.0


def test_a_second_ctrl_c_while_the_first_is_answered_loses_nothing(tmp_path):
    done = []

    class Slow(cosim.Checkpoint):
        def write(self, state):
            os.kill(os.getpid(), signal.SIGINT)
            done.append(("written", state.time))
            super().write(state)

    def stop(time):
        if time > 0.5:
            raise KeyboardInterrupt

    system, path = system_of(ball=BouncingBall), tmp_path / "run.state"
    with pytest.raises(KeyboardInterrupt) as caught:
        cosim.simulate(
            system,
            until=2.0,
            accuracy=1e-6,
            progress=stop,
            checkpoint=Slow(path),
            keep=lambda result: done.append(("kept", result.time[-1])),
        )
    (first, kept), (second, written) = done
    assert (first, second) == ("kept", "written") and kept <= written
    assert caught.value.result.time[-1] == kept > 0.4
    assert cosim.read_checkpoint(system, path).time == written
