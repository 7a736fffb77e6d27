"""A State saved at the end of any step goes on to the same bytes; checkpoints and drafts of results."""

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
    """A timer whose next time is 1.5 times the present one."""

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
def test_a_state_saved_after_any_step_goes_on_to_the_same_bytes(method):
    options = {"integrator": f"integrators.{method}", "accuracy": 1e-6}
    system = make_system()
    simulator = cosim.Simulator(system, **options)
    saved_states = []
    simulator.set_monitor(lambda state: saved_states.append(state.to_bytes()))
    simulator.advance_to(1.5)
    kinds = [f.kind for f in simulator.findings]
    assert kinds == ["zeno", "held"]
    assert simulator.state["waiting.naps"] == 7
    assert len(saved_states) > 30
    simulator.clear_monitor()
    simulator.advance_pending_events()
    end = simulator.state.to_bytes()
    for data in saved_states[:: len(saved_states) // 12]:
        resumed = cosim.Simulator(system, system.state_from_bytes(data), **options)
        resumed.advance_to(1.5)
        resumed.advance_pending_events()
        assert resumed.state.to_bytes() == end


def test_a_checkpoint_is_one_complete_file_and_a_damaged_one_is_refused(tmp_path):
    system = system_of(ball=BouncingBall)
    path = tmp_path / "ball.state"
    checkpoint = cosim.Checkpoint(path, every=1e-9)
    cosim.simulate(system, until=0.7, checkpoint=checkpoint)
    assert [p.name for p in tmp_path.iterdir()] == ["ball.state"]
    assert cosim.read_checkpoint(system, path).time == 0.7
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(cosim.StateError, match=r"ball\.state.*State are damaged"):
        cosim.read_checkpoint(system, path)


def test_a_checkpoint_is_due_after_its_interval(tmp_path, monkeypatch):
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


def test_the_checkpoint_of_a_failed_run_is_the_state_before_the_failure(tmp_path):
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
def test_an_unwritable_path_and_an_interval_of_0_are_refused(tmp_path, path, every, text):
    with pytest.raises(cosim.CosimError, match=text):
        cosim.Checkpoint(tmp_path / path, every)


def test_drafts_of_results_are_saved_every_twenty_seconds(monkeypatch, caplog):
    """A draft takes 1 s and is to take at most a twentieth of the time; a step takes 4 s."""
    now, drafts = [0.0], []
    monkeypatch.setattr("cosim.simulation.result_drafts.wall.monotonic", lambda: now[0])
    monkeypatch.setattr("cosim.simulation.stride.FIRST_STRIDE", 1)
    monkeypatch.setattr("cosim.simulation.stride.PATIENCE", 0.0)

    def keep(result):
        drafts.append((now[0], result.time[-1]))
        now[0] += 1.0
        if len(drafts) == 2:
            raise cosim.CosimError("no space left")

    def tick(time):
        now[0] += 4.0

    with caplog.at_level(logging.WARNING, "cosim.simulation"):
        cosim.simulate(system_of(ball=BouncingBall), until=0.4, maximum_step=0.01, keep=keep, progress=tick)
    assert "kept: no space" in caplog.text
    assert len(drafts) > 5
    starts = [time for time, _ in drafts]
    assert starts[0] == 12.0
    assert all(21.0 <= later - earlier <= 25.0 for earlier, later in itertools.pairwise(starts))
    assert [time for _, time in drafts] == sorted({time for _, time in drafts})


KILLED_RUN = """
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


def test_a_killed_run_leaves_a_draft_of_its_results(tmp_path):
    path = tmp_path / "ball.csv"
    ended = subprocess.run(
        [sys.executable, "-c", KILLED_RUN, str(path)], cwd=Path(__file__).parent, check=False
    )
    assert ended.returncode == -9
    *_, last_row, remark = path.read_text("utf-8").splitlines()
    time, height = map(float, last_row.split(","))
    assert remark.startswith("# not whole")
    assert 0.58 < time <= 0.62  # it is killed after 0.6 s, and a step is at most 0.01 s
    assert height > 0.0


def test_a_second_ctrl_c_loses_neither_results_nor_checkpoint(tmp_path):
    saved = []

    class Slow(cosim.Checkpoint):
        def write(self, state):
            os.kill(os.getpid(), signal.SIGINT)
            saved.append(("written", state.time))
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
            keep=lambda result: saved.append(("kept", result.time[-1])),
        )
    (_, result_time), (_, checkpoint_time) = saved
    assert [kind for kind, _ in saved] == ["kept", "written"] and result_time <= checkpoint_time
    assert caught.value.result.time[-1] == result_time > 0.4
    assert cosim.read_checkpoint(system, path).time == checkpoint_time
