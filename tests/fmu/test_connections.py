"""What can be said about a connection, who may watch, and the clock on the wall."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from box3_fmu import make_box3
from test_master_coupling import Block

import cosim
from cosim_fmu.master import CoSimulation
from cosim_fmu.master.connection import Connection

MakeFmu = Callable[..., Path]


def test_linear_transformation_comes_before_the_conversion_of_units() -> None:
    giver = Block({"t": lambda time: 20.0}, units={"t": "degC"})
    taker = Block({}, ["u"], units={"u": "K"})
    loop = CoSimulation(
        {"a": giver, "b": taker}, [{"from": "a.t", "to": "b.u", "factor": 2.0, "offset": 5.0}], "jacobi", 0.1
    )
    loop.simulate(0.2)
    assert taker.values["u"] == pytest.approx(2.0 * 20.0 + 5.0 + 273.15)


def test_transformation_runs_compiled(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("gain")
    link = Connection("a.y", "b.u", factor=-3.0, offset=1.0)
    loop = CoSimulation({"a": fmu, "b": fmu}, [link], "gauss_seidel", 0.1, starts={"a.bias": 2.0})
    result = loop.simulate(0.3)
    assert result.statistics["loop"] == "compiled"
    assert result["b.u"].tolist() == [-5.0] * 4
    assert result["b.y"].tolist() == [-5.0] * 4


def test_bus_connects_all_that_match(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    box = make_box3(tmp_path, compiled)
    parts = {"a": box, "b": box}
    loop = CoSimulation(
        parts, [("a.doubled[*]", "b.matrix[*]")], "gauss_seidel", 0.1, starts={"a.matrix[2,1]": 4.0}
    )
    assert [str(link) for link in loop.links] == [
        f"a.doubled[{i},{j}] → b.matrix[{i},{j}]" for i in (1, 2) for j in (1, 2)
    ]
    assert loop.simulate(0.2)["b.doubled[2,1]"].tolist() == [16.0] * 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("a.y*", "b.u"), "a bus needs one \\* in each of its names"),
        (("a.z*", "b.u*"), "no output matches a.z\\*"),
        (("a.*", "b.in_*"), "a.y would go to b.in_y, but there is no such input"),
        ({"from": "a.y", "to": "b.u", "gain": 2.0}, "no key 'gain'"),
        ({"from": "a.y", "to": "b.u", "factor": "2"}, "factor is '2', needs a finite number"),
        ({"from": "a.y", "to": "b.u", "offset": float("nan")}, "offset is nan, needs a finite number"),
        (("a.y",), "needs two names"),
    ],
)
def test_connections_that_are_wrong(make_fmu: MakeFmu, given: Any, said: str) -> None:
    fmu = make_fmu("gain")
    with pytest.raises(cosim.ModelError, match=said):
        CoSimulation({"a": fmu, "b": fmu}, [given], "jacobi", 0.1)


def test_only_real_inputs_are_transformed(make_fmu: MakeFmu) -> None:
    link = {"from": "k.integer_out", "to": "k.integer_in", "factor": 2.0}
    with pytest.raises(cosim.ModelError, match="k.integer_in is integer: only real inputs"):
        CoSimulation({"k": make_fmu("types")}, [link], "jacobi", 0.1)


def test_observer_sees_every_point_and_may_stop(make_fmu: MakeFmu) -> None:
    seen: list[tuple[float, float]] = []

    def observe(now: float, values: Any) -> bool:
        seen.append((now, values["m.x"]))
        return len(seen) < 6

    loop = CoSimulation({"m": make_fmu("mass")}, [], "jacobi", 0.1)
    result = loop.simulate(10.0, observe=observe)
    assert result.statistics["loop"] == "compiled"
    assert [time for time, _ in seen] == result.time.tolist()
    assert [x for _, x in seen] == result["m.x"].tolist()
    assert len(seen) == 6 and result.message == "stopped at t = 0.5 s"


def test_real_time_rate_and_overruns(make_fmu: MakeFmu) -> None:
    loop = CoSimulation({"m": make_fmu("mass")}, [], "jacobi", 0.05)
    begun = time.perf_counter()
    result = loop.simulate(0.4, real_time_rate=2.0)
    assert time.perf_counter() - begun >= 0.2

    def slow(now: float, values: Any) -> None:
        time.sleep(0.02)

    result = loop.simulate(0.5, real_time_rate=10.0, observe=slow)
    assert result.statistics["overruns"] >= 8
    assert result.statistics["largest_lag"] > 0.05
    with pytest.raises(cosim.ModelError, match="real_time_rate.*is 0.0, needs a number greater than 0"):
        loop.simulate(0.1, real_time_rate=0.0)
