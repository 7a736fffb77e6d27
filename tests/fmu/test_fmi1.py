"""FMUs of FMI 1.0 run: Co-Simulation and Model Exchange."""

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


def test_what_it_declares(tmp_path: Path, compiled: Compiled) -> None:
    described = open_fmu(make_fmi1(tmp_path, compiled)).describe()
    assert described.kind == "FMI 1.0 Co-Simulation"
    assert described.variables["x"].unit == "m" and described.variables["k"].causality == "parameter"
    assert described.feedthrough is not None
    assert described.feedthrough["x"] == frozenset() and described.feedthrough["rate"] == {"u"}
    assert described.assumed_feedthrough == {"minus x", "count", "flag"}
    assert not described.can_restore and not described.follows_slopes
    other = open_fmu(make_fmi1(tmp_path, compiled, "ModelExchange"))
    assert isinstance(other, ModelExchangeParticipant)


def test_co_simulation(tmp_path: Path, compiled: Compiled) -> None:
    path = make_fmi1(tmp_path, compiled)
    links: Any = [("a.x", "b.u")]
    loop = CoSimulation({"a": path, "b": path}, links, "jacobi", 0.1, starts={"a.u": 2.0, "a.k": 0.5})
    record = ["a.x", "a.minus x", "b.x", "b.rate"]
    result = loop.simulate(1.0, record=record)
    ramp = 1.0 + result.time
    assert result["a.x"] == pytest.approx(ramp) and (result["a.minus x"] == -result["a.x"]).all()
    assert result["b.x"][1:] == pytest.approx(1.0 + 0.1 * np.cumsum(ramp[:-1]))
    # the input that is there at the start belongs to the initial values
    assert result["b.rate"][0] == 1.0


def test_as_fmpy_runs_it(tmp_path: Path, compiled: Compiled) -> None:
    fmpy = pytest.importorskip("fmpy")
    path = make_fmi1(tmp_path, compiled)
    starts = {"u": 2.0, "k": 0.3}
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={f"m.{n}": v for n, v in starts.items()})
    ours = loop.simulate(1.0, record=["m.x"])
    theirs = fmpy.simulate_fmu(
        str(path), stop_time=1.0, output_interval=0.1, output=["x"], start_values=starts, validate=False
    )
    assert ours["m.x"].tolist() == theirs["x"].tolist()


def test_all_types_and_what_is_out_of_order(tmp_path: Path, compiled: Compiled) -> None:
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


def test_failures_and_discarded_steps(tmp_path: Path, compiled: Compiled) -> None:
    path = make_fmi1(tmp_path, compiled)
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.fails_at": 0.25})
    with pytest.raises(CoSimulationError, match="fmiDoStep: failed with status error.*too.*0"):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.2)
    part = FmuParticipant(path)
    part.initialize(0.0, 1.0, {"fails_at": 0.25, "count": 7})
    try:
        assert part.step(0.0, 0.4) == 0.25  # discarded; it says how far it came
    finally:
        part.close()
    refused = make_fmi1(tmp_path, compiled, guid="other")
    with pytest.raises(cosim.FmuError, match=r"fmiInstantiateSlave: .*guid.*\{one\}"):
        FmuParticipant(refused).initialize(0.0, 1.0, {})


def ball(time: float) -> float:
    """From 1 m, with a restitution of 0.8, kicked at 1.5 s to 5 m/s."""
    h, v, t = 1.0, 0.0, 0.0
    kicked = False
    while True:
        hit = t + (v + np.sqrt(v * v + 2.0 * 9.81 * h)) / 9.81
        following = hit if kicked or hit < 1.5 else 1.5
        until = min(following, time)
        d = until - t
        h, v, t = h + v * d - 0.5 * 9.81 * d * d, v - 9.81 * d, until
        if until == time:
            return h
        if until == 1.5 and not kicked:
            v, kicked = 5.0, True
        else:
            h, v = 0.0, -0.8 * v


def test_model_exchange_through_state_and_time_events(tmp_path: Path, compiled: Compiled) -> None:
    path = make_fmi1(tmp_path, compiled, "ModelExchange")
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.kick_at": 1.5})
    result = loop.simulate(2.4, record=["m.x", "m.count", "m.minus x"], inside="nothing")
    assert result["m.x"] == pytest.approx([ball(t) for t in result.time], abs=1e-6)
    assert result["m.minus x"].tolist() == (-result["m.x"]).tolist()
    assert result["m.count"][-1] == 2
    assert len(result.events) == 3
    pushed = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.u": 9.81})
    assert pushed.simulate(0.5)["m.x"] == pytest.approx([1.0] * 6)


def test_model_exchange_that_fails(tmp_path: Path, compiled: Compiled) -> None:
    path = make_fmi1(tmp_path, compiled, "ModelExchange")
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.fails_at": 0.25})
    with pytest.raises(CoSimulationError, match="fmiGetDerivatives: failed with status error.*too"):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.2)
