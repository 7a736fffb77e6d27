"""Participants in Python are called by the compiled loop as they are by the loop in Python."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compared_loops import (
    ABILITIES,
    ALGORITHMS,
    ONE_OF_EACH_KIND,
    run_in_all_loops,
)

from cosim import kit
from cosim_fmu.abilities import InnerPoint
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.algorithms.interface_newton import InterfaceNewton
from cosim_master.algorithms.jacobi import Jacobi

MakeFmu = Callable[..., Path]


def spring(follows: bool = False) -> LinearParticipant:
    """A damped spring in Python, whose force depends directly on its inputs; `follows` slopes or not."""
    nothing = np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0))
    return LinearParticipant((*nothing, [[-4.0, -0.4]]), ["x", "v"], ["f"], [], follows)


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "options"), ALGORITHMS)
@pytest.mark.parametrize("follows", [False, True])
def test_participants_in_python_are_called_in_order(
    make_fmu: MakeFmu, kind: type, options: dict[str, Any], follows: bool
) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES)
    wires = ["mass.x -> spring.x", "mass.v -> spring.v", "spring.f -> mass.f"]

    def make(algorithm: Any) -> CoSimulation:
        return CoSimulation({"mass": fmu, "spring": spring(follows)}, wires, algorithm, step=1e-2)

    result = run_in_all_loops(kind, options, make, 0.3)
    assert np.ptp(result["mass.x"]) > 0.0


class DifferentiableParticipant(LinearParticipant):
    """A linear participant that declares and returns directional derivatives."""

    def describe(self) -> kit.ParticipantDescription:
        return dataclasses.replace(super().describe(), has_derivatives=True)

    def directional_derivative(self, outputs: Any, inputs: Any, seed: Any) -> Any:
        assert list(outputs) == ["f"]
        return (self.d[:, [self.inputs.index(name) for name in inputs]] @ np.array(seed)).tolist()


def test_newton_asks_for_derivatives_once(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES)
    nothing = np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0))

    def make(algorithm: Any) -> CoSimulation:
        spring = DifferentiableParticipant((*nothing, [[-4.0, -0.4]]), ["x", "v"], ["f"], [])
        wires = ["mass.x -> spring.x", "mass.v -> spring.v", "spring.f -> mass.f"]
        return CoSimulation({"mass": fmu, "spring": spring}, wires, algorithm, step=1e-2)

    figures = run_in_all_loops(InterfaceNewton, {}, make, 0.3).statistics["algorithm"]
    assert (figures["derivatives"], figures["jacobians"]) == (1, 0)


class Counter(LinearParticipant):
    """Counts its steps; every third step has an event inside, every fourth one returns early."""

    def describe(self) -> kit.ParticipantDescription:
        count = kit.ParticipantVariable("count", "output", type="integer")
        odd = kit.ParticipantVariable("odd", "output", type="boolean")
        limit = kit.ParticipantVariable("limit", "input", type="integer")
        description = super().describe()
        variables = {**description.variables, "count": count, "odd": odd, "limit": limit}
        return dataclasses.replace(description, variables=variables)

    def _begin(self, values: Any) -> None:
        super()._begin(values)
        self.count, self.limit, self._inside = 0, 0, list[InnerPoint]()

    def set(self, names: Any, values: Any) -> None:
        inputs = dict(zip(names, values, strict=True))
        if "limit" in inputs:
            self.limit = inputs.pop("limit")
            assert type(self.limit) is int
        super().set(list(inputs), list(inputs.values()))

    def step(self, time: float, size: float) -> float:
        if self.count % 4 == 3:
            self.count += 1
            return super().step(time, 0.5 * size)
        if self.count % 3 == 2:
            self._inside.append(InnerPoint(time + 0.25 * size, ("y", "count"), [7.0, self.count]))
        self.count += 1
        return super().step(time, size)

    def inside(self) -> list[InnerPoint]:
        points, self._inside = self._inside, []
        return points

    def get(self, names: Any) -> list[Any]:
        counts = {"count": self.count, "odd": bool(self.count % 2)}
        return [counts[name] if name in counts else super(Counter, self).get([name])[0] for name in names]

    def save(self) -> Any:
        return super().save(), self.count, self.limit

    def restore(self, token: Any) -> None:
        linear, self.count, self.limit = token
        super().restore(linear)


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "options"), ONE_OF_EACH_KIND)
def test_integers_events_and_early_returns_of_python(
    make_fmu: MakeFmu, kind: type, options: dict[str, Any]
) -> None:
    wires = [
        ("mass.x", "it.u"),
        ("it.y", "mass.f"),
        ("kinds.integer_out", "it.limit"),
        ("it.count", "kinds.integer_in"),
    ]
    wires += [("it.odd", "kinds.boolean_in")]

    def make(algorithm: Any) -> CoSimulation:
        it = Counter(([[-1.0]], [[-3.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        kinds = make_fmu("types", abilities=ABILITIES)
        return CoSimulation({"mass": make_fmu("mass"), "it": it, "kinds": kinds}, wires, algorithm, step=1e-2)

    record = ["mass.x", "mass.f", "it.*", "kinds.integer_*", "kinds.boolean_*"]
    result = run_in_all_loops(kind, options, make, 0.2, record=record)
    assert result["it.count"][-1] > 20
    assert any("returned early" in event.message for event in result.events)
    assert (np.diff(result.time) == 0.0).any() or 7.0 in result["it.y"]


def test_after_an_error_in_python_the_results_before_it_remain(make_fmu: MakeFmu) -> None:
    class Fails(LinearParticipant):
        def step(self, time: float, size: float) -> float:
            if time > 0.05:
                raise RuntimeError("no more")
            return super().step(time, size)

    def make(algorithm: Any) -> CoSimulation:
        it = Fails(([[-1.0]], [[-3.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        wires = [("mass.x", "it.u"), ("it.y", "mass.f")]
        return CoSimulation({"mass": make_fmu("mass"), "it": it}, wires, algorithm, step=1e-2)

    result = run_in_all_loops(Jacobi, {}, make, 0.2)
    assert result.time[-1] < 0.07


def test_a_fraction_for_an_integer_is_refused(make_fmu: MakeFmu) -> None:
    class Halves(Counter):
        def get(self, names: Any) -> list[Any]:
            return [
                2.5 if name == "count" and self.count > 4 else super(Halves, self).get([name])[0]
                for name in names
            ]

    def make(algorithm: Any) -> CoSimulation:
        it = Halves(([[-1.0]], [[-3.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        parts = {"it": it, "kinds": make_fmu("types")}
        return CoSimulation(parts, [("it.count", "kinds.integer_in")], algorithm, step=1e-2)

    result = run_in_all_loops(Jacobi, {}, make, 0.2, record=["it.y", "kinds.integer_in"])
    assert 0.0 < result.time[-1] < 0.1


MAPS: list[dict[str, Any]] = [
    {"from": "it.count", "to": "kinds.integer_in", "map": {0: 7, 1: 0, 2: -2, 3: 3}},
    {"from": "it.count", "to": "it.u", "map": {0: 0.5, 3: -1}, "factor": 2.0, "offset": 1.0},
    {"from": "it.odd", "to": "kinds.boolean_in", "map": {"true": False, "false": True}},
    {"from": "kinds.boolean_out", "to": "it.limit", "map": {"true": 5, "false": 5}},
    {"from": "it.odd", "to": "it.limit", "map": {}},
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "options"), ALGORITHMS)
@pytest.mark.parametrize("connection", MAPS, ids=lambda link: f"{link['from']} {link['to']}")
def test_mapped_connections(
    make_fmu: MakeFmu, connection: dict[str, Any], kind: type, options: dict[str, Any]
) -> None:
    def make(algorithm: Any) -> CoSimulation:
        it = Counter(([[-1.0]], [[-3.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        parts = {"it": it, "kinds": make_fmu("types", abilities=ABILITIES), "mass": make_fmu("mass")}
        wires = [
            connection,
            ("mass.x", "kinds.real_in"),
            *[("mass.x", "it.u")] * (connection["to"] != "it.u"),
        ]
        return CoSimulation(parts, wires, algorithm, step=1e-2)

    result = run_in_all_loops(
        kind, options, make, 0.1, record=["it.y", "it.count", connection["to"], "kinds.real_in"]
    )
    assert connection["to"] == "it.limit" or np.unique(result[connection["to"]]).size > 1


def test_a_value_that_is_not_in_the_map_of_its_connection_is_refused(make_fmu: MakeFmu) -> None:
    def make(algorithm: Any) -> CoSimulation:
        it = Counter(([[-1.0]], [[-3.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        wires = [
            {"from": "it.count", "to": "kinds.boolean_in", "map": {2: True, 3: False}},
            ("it.y", "kinds.real_in"),
            ("kinds.real_out", "it.u"),
        ]
        return CoSimulation({"it": it, "kinds": make_fmu("types")}, wires, algorithm, step=1e-2)

    result = run_in_all_loops(Jacobi, {}, make, 0.2, record=["kinds.boolean_in", "it.count"])
    assert result.time[-1] == 0.04
    assert result["it.count"][-1] == 5  # the fourth step returned early
