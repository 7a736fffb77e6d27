"""SIGINT and SIGTERM during a run and while its results are written: nothing that was computed is lost."""

import os
import signal

import pytest

import cosim
from cosim import kit
from cosim.simulation.interrupt import (
    Terminated,
    answering_sigterm,
    interrupt_afterwards,
    interrupt_between_steps,
)
from cosim.simulation.simulator import Simulator


def test_an_uninterrupted_block_ends_though_ctrl_c_is_pressed_three_times() -> None:
    written = []
    with kit.uninterrupted():
        for line in range(3):
            os.kill(os.getpid(), signal.SIGINT)
            written.append(line)
    assert written == [0, 1, 2]
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("times", [0, 1, 3])
def test_a_signal_after_the_last_step_of_a_run_is_raised_with_the_complete_result(
    number: signal.Signals, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run may be one of many of a calibration, which must end."""
    end_tape = Simulator.end_tape

    def interrupted_end(simulator: Simulator) -> None:
        for _ in range(times):
            os.kill(os.getpid(), number)
        end_tape(simulator)

    monkeypatch.setattr(Simulator, "end_tape", interrupted_end)
    model = cosim.Model("one")
    model.add("measures.constant", "constant", value=1.0)
    with answering_sigterm():
        if not times:
            assert len(cosim.simulate(model.build(), until=1.0, output_interval=0.5)) == 3
            return
        with pytest.raises(KeyboardInterrupt) as caught:
            cosim.simulate(model.build(), until=1.0, output_interval=0.5)
    assert isinstance(caught.value, Terminated) == (number == signal.SIGTERM)
    result = caught.value.result
    assert result.time.tolist() == [0.0, 0.5, 1.0] and not result.unfinished


def test_a_signal_in_an_inner_block_is_raised_by_the_outer_one() -> None:
    with pytest.raises(KeyboardInterrupt), interrupt_between_steps() as check:
        with interrupt_afterwards():
            os.kill(os.getpid(), signal.SIGINT)
        check()


def test_a_signal_does_not_hide_an_error() -> None:
    with pytest.raises(ValueError, match="inside"), interrupt_afterwards():
        os.kill(os.getpid(), signal.SIGINT)
        raise ValueError("inside")
