"""FMUs of FMI 1.0 for Co-Simulation and for Model Exchange: descriptions, runs, failures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmi1_fmu import make_fmi1

import cosim
from cosim_fmu import CoSimulation, CoSimulationError, FmuParticipant
from cosim_master.participants.create_participants import open_fmu
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

Compiled = Callable[..., Path]


def ball_height(time: float) -> float:
    """The height of a ball that falls from 1 m, bounces at 0.8 of its speed, and has 5 m/s at 1.5 s."""
    h, v, t = 1.0, 0.0, 0.0
    is_kicked = False
    while True:
        bounce = t + (v + np.sqrt(v * v + 2.0 * 9.81 * h)) / 9.81
        next_event = bounce if is_kicked or bounce < 1.5 else 1.5
        until = min(next_event, time)
        d = until - t
        h, v, t = h + v * d - 0.5 * 9.81 * d * d, v - 9.81 * d, until
        if until == time:
            return h
        if until == 1.5 and not is_kicked:
            v, is_kicked = 5.0, True
        else:
            h, v = 0.0, -0.8 * v


def test_descriptions_of_both_kinds(tmp_path: Path, compiled: Compiled) -> None:
    description = open_fmu(make_fmi1(tmp_path, compiled)).describe()
    assert description.kind == "FMI 1.0 Co-Simulation"
    assert description.variables["x"].unit == "m" and description.variables["k"].causality == "parameter"
    assert description.feedthrough is not None
    assert description.feedthrough["x"] == frozenset() and description.feedthrough["rate"] == {"u"}
    assert description.assumed_feedthrough == {"minus x", "count", "flag"}
    assert not description.can_restore and not description.follows_slopes
    exchange = open_fmu(make_fmi1(tmp_path, compiled, "ModelExchange"))
    assert isinstance(exchange, ModelExchangeParticipant)


def test_two_coupled_slaves(tmp_path: Path, compiled: Compiled) -> None:
    path = make_fmi1(tmp_path, compiled)
    links: Any = [("a.x", "b.u")]
    loop = CoSimulation({"a": path, "b": path}, links, "jacobi", 0.1, starts={"a.u": 2.0, "a.k": 0.5})
    record = ["a.x", "a.minus x", "b.x", "b.rate"]
    result = loop.simulate(1.0, record=record)
    ramp = 1.0 + result.time
    assert result["a.x"] == pytest.approx(ramp) and (result["a.minus x"] == -result["a.x"]).all()
    assert result["b.x"][1:] == pytest.approx(1.0 + 0.1 * np.cumsum(ramp[:-1]))
    # the initial values depend on the input at the start
    assert result["b.rate"][0] == 1.0


def test_a_run_has_the_bits_of_fmpy(tmp_path: Path, compiled: Compiled) -> None:
    fmpy = pytest.importorskip("fmpy")
    path = make_fmi1(tmp_path, compiled)
    starts = {"u": 2.0, "k": 0.3}
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={f"m.{n}": v for n, v in starts.items()})
    result = loop.simulate(1.0, record=["m.x"])
    expected = fmpy.simulate_fmu(
        str(path), stop_time=1.0, output_interval=0.1, output=["x"], start_values=starts, validate=False
    )
    assert result["m.x"].tolist() == expected["x"].tolist()


def test_all_types_are_set_and_calls_out_of_order_fail(tmp_path: Path, compiled: Compiled) -> None:
    part = FmuParticipant(make_fmi1(tmp_path, compiled))
    part.initialize(0.0, 1.0, {"count": 3, "text": "tschüs", "flag": True})
    try:
        assert part.get(["count", "flag", "text", "x"]) == [3, True, "tschüs", 1.0]
        part.exit_initialization()
        part.set(["u"], [1.0])
        assert part.step(0.0, 0.5) == 0.5
        assert part.get(["x", "minus x"]).tolist() == [1.5, -1.5]  # type: ignore[union-attr]
        with pytest.raises(cosim.FmuError, match="fmiSetReal: failed.*error.*only.*can.*at 3"):
            part.set(["k"], [2.0])
        with pytest.raises(cosim.FmuError, match="fmiSetReal: failed"):
            part.step(0.5, 0.5)
        with pytest.raises(cosim.FmuError, match="save its state"):
            part.save()
    finally:
        part.close()


def test_failures_discarded_steps_and_wrong_identifiers(tmp_path: Path, compiled: Compiled) -> None:
    path = make_fmi1(tmp_path, compiled)
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.fails_at": 0.25})
    with pytest.raises(CoSimulationError, match="fmiDoStep: failed with status error.*too.*0"):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.2)
    part = FmuParticipant(path)
    part.initialize(0.0, 1.0, {"fails_at": 0.25, "count": 7})
    try:
        assert part.step(0.0, 0.4) == 0.25  # a discarded step, completed up to 0.25 s
    finally:
        part.close()
    with_other_guid = make_fmi1(tmp_path, compiled, guid="other")
    with pytest.raises(cosim.FmuError, match=r"fmiInstantiateSlave: .*guid.*\{one\}"):
        FmuParticipant(with_other_guid).initialize(0.0, 1.0, {})


def test_model_exchange_through_state_and_time_events(tmp_path: Path, compiled: Compiled) -> None:
    path = make_fmi1(tmp_path, compiled, "ModelExchange")
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.kick_at": 1.5})
    result = loop.simulate(2.4, record=["m.x", "m.count", "m.minus x"], inside="nothing")
    assert result["m.x"] == pytest.approx([ball_height(t) for t in result.time], abs=1e-6)
    assert result["m.minus x"].tolist() == (-result["m.x"]).tolist()
    assert result["m.count"][-1] == 2
    assert len(result.events) == 3
    pushed = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.u": 9.81})
    assert pushed.simulate(0.5)["m.x"] == pytest.approx([1.0] * 6)


def test_a_failure_in_model_exchange_keeps_the_results_before_it(tmp_path: Path, compiled: Compiled) -> None:
    path = make_fmi1(tmp_path, compiled, "ModelExchange")
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.fails_at": 0.25})
    with pytest.raises(CoSimulationError, match="fmiGetDerivatives: failed with status error.*too"):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.2)
