"""Feedthrough that is declared, said or found, and loops of it that are real."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim_fmu import CoSimulation
from cosim_fmu.scenario.scenario import Scenario
from cosim_master.coupling.feedthrough import with_feedthrough

LOOP = ["a.y -> b.u", "b.y -> a.u"]


class Affine(cosim.Participant):
    """y = gain u + lag x + sin t with x' = u - x; what it says about that is up to the test."""

    def __init__(
        self,
        gain: float = 0.0,
        lag: float = 0.0,
        *,
        says: str = "truth",
        restores: bool = True,
        has_derivatives: bool = False,
        answers: str = "at once",
        wave: float = 0.0,
    ) -> None:
        self.gain, self.lag, self.wave = gain, lag, wave
        self.says, self.restores, self.has_derivatives, self.answers = (
            says,
            restores,
            has_derivatives,
            answers,
        )
        self.instances = self.steps = 0

    def describe(self) -> kit.ParticipantDescription:
        variables = {n: kit.ParticipantVariable(n, k) for n, k in (("y", "output"), ("u", "input"))}
        truth = frozenset(["u"] if self.gain else [])
        known = {"truth": {"y": truth}, "all": {"y": frozenset(["u"])}, "nothing": None}[self.says]
        return kit.ParticipantDescription(
            *("affine", variables, known),
            can_restore=self.restores,
            has_derivatives=self.has_derivatives,
            possible_feedthrough=frozenset(["y"] if self.says == "all" else []),
        )

    def initialize(self, start: float, stop: Any, values: Mapping[str, Any], tolerance: Any = None) -> None:
        self.time, self.x, self.u = start, 0.0, float(values.get("u", 0.0))
        self.y = self._value()
        self.instances += 1

    def set(self, names: Sequence[str], values: Sequence[Any]) -> None:
        if names:
            self.u = float(values[0])

    def get(self, names: Sequence[str]) -> list[Any]:
        if self.answers == "never":
            raise ValueError("not between setting and stepping")
        return [self._value() if self.answers == "at once" else self.y for _ in names]

    def _value(self) -> float:
        return float(self.gain * self.u + self.lag * self.x + self.wave * np.sin(self.time))

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        return [self.gain * seed[0] for _ in outputs]

    def step(self, time: float, size: float) -> float:
        self.steps += 1
        self.x = self.u + (self.x - self.u) * np.exp(-size)
        self.time = time + size
        self.y = self._value()
        return self.time

    def save(self) -> Any:
        return self.time, self.x, self.u, self.y

    def restore(self, token: Any) -> None:
        self.time, self.x, self.u, self.y = token

    def close(self) -> None:
        pass


@pytest.mark.parametrize("says", ["all", "nothing"])
@pytest.mark.parametrize("how", ["differences", "derivatives"])
def test_a_loop_that_is_not_there(says: str, how: str) -> None:
    found = {"restores": how == "differences", "has_derivatives": how == "derivatives"}
    lazy = Affine(lag=-1.0, says=says, **found)
    loop = CoSimulation({"a": Affine(2.0), "b": lazy}, LOOP, step=0.1)
    shown = loop.explain()
    assert loop.loops == () and loop.warnings == () and loop.order == ("a", "b")
    assert "depend directly on b.u" in shown
    assert "not late" in shown and "iterated" not in shown
    result = loop.simulate(1.0)
    assert lazy.instances == 2, "looked into once, then run"
    assert result.warnings == []
    declared = CoSimulation({"a": Affine(2.0), "b": Affine(lag=-1.0)}, LOOP, step=0.1).simulate(1.0)
    np.testing.assert_array_equal(result["b.y"], declared["b.y"])


@pytest.mark.by_turns
@pytest.mark.parametrize("answers", ["at once", "in steps"])
@pytest.mark.parametrize("gain", [0.5, -3.0])
@pytest.mark.parametrize("says", ["truth", "all", "nothing"])
def test_a_real_loop_is_iterated(answers: str, gain: float, says: str) -> None:
    a = Affine(gain, says=says, answers=answers, wave=1.0)
    b = Affine(-2.0, says=says, answers=answers)
    loop = CoSimulation({"a": a, "b": b}, LOOP, step=0.1)
    result = loop.simulate(1.0)
    exact = np.sin(result.time) / (1.0 + 2.0 * gain)
    np.testing.assert_allclose(result["a.y"][1:], exact[1:], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(result["b.y"][1:], -2.0 * exact[1:], rtol=1e-7, atol=1e-9)
    assert [set(each.participants) for each in loop.loops] == [{"a", "b"}]
    assert result.statistics["algorithm"]["iterations"] > 10
    assert "b step together" in loop.explain() and "not late: iterated" in loop.explain()


def test_what_is_around_a_loop_keeps_its_place() -> None:
    parts: dict[str, Any] = {
        "reader": Affine(1.0),
        "b": Affine(-2.0),
        "source": Affine(wave=1.0),
        "a": Affine(0.5),
    }
    wires = ["b.y -> a.u", {"from": "a.y", "to": "b.u", "factor": 1.0}, "b.y -> reader.u"]
    adder = Adder()
    wires[1:2] = ["a.y -> sum.u", "source.y -> sum.v", "sum.y -> b.u"]
    loop = CoSimulation({**parts, "sum": adder}, wires, step=0.1)
    assert loop.order.index("source") < min(map(loop.order.index, ("a", "b", "sum")))
    assert loop.order[-1] == "reader"
    result = loop.simulate(1.0)
    # b = -2 (a + s), a = b / 2: b = -s
    np.testing.assert_allclose(result["b.y"][1:], -np.sin(result.time[1:]), rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(result["reader.y"][1:], result["b.y"][1:])


class Adder(Affine):
    """y = u + v."""

    def __init__(self) -> None:
        super().__init__(1.0)
        self.v = 0.0

    def describe(self) -> kit.ParticipantDescription:
        found = super().describe()
        both = {**found.variables, "v": kit.ParticipantVariable("v", "input")}
        return replace(found, variables=both, feedthrough={"y": frozenset("uv")})

    def set(self, names: Sequence[str], values: Sequence[Any]) -> None:
        for name, value in zip(names, values, strict=True):
            setattr(self, name, float(value))

    def _value(self) -> float:
        return self.u + self.v

    def save(self) -> Any:
        return super().save(), self.v

    def restore(self, token: Any) -> None:
        super().restore(token[0])
        self.v = token[1]


def test_a_loop_that_cannot_be_iterated_names_what_is_left() -> None:
    fixed = Affine(0.5, restores=False)
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": Affine(0.5), "b": fixed}, LOOP, step=0.1)
    said = str(caught.value)
    assert "closes a loop" in said and "restore its state" in said
    assert "feedthrough = { y = [] } in [participants.a]" in said and '"jacobi"' in said
    with pytest.raises(cosim.ModelError, match="with these options does not iterate"):
        CoSimulation({"a": Affine(0.5), "b": Affine(0.5)}, LOOP, step=0.1, options={"extrapolation": 1})
    with pytest.raises(cosim.ModelError, match="longer communication step"):
        CoSimulation({"a": Affine(0.5), "b": Affine(0.5)}, LOOP, step=0.1, steps={"b": 0.2})


def test_a_loop_is_cut_where_the_user_says_so() -> None:
    def run(**said: Any) -> CoSimulation:
        parts = {"a": Affine(0.5, restores=False, wave=1.0), "b": Affine(0.5, restores=False)}
        return CoSimulation(parts, LOOP, step=0.1, feedthrough=said)

    loop = run(b={"y": []})
    assert loop.order == ("a", "b") and loop.loops == ()
    result = loop.simulate(1.0)
    np.testing.assert_allclose(result["a.y"][1:], np.sin(result.time[1:]) + 0.5 * result["b.y"][:-1])
    assert run(a="none").order == ("b", "a")


def test_nothing_is_known_so_the_given_order_is_taken() -> None:
    parts = {
        "b": Affine(0.1, says="nothing", restores=False),
        "a": Affine(lag=1.0, says="nothing", restores=False),
    }
    loop = CoSimulation(parts, LOOP, step=0.1)
    result = loop.simulate(0.5)
    assert loop.order == ("b", "a")
    assert len(result.warnings) == 1 and "a.y, b.y depend on directly" in result.warnings[0]
    assert 'feedthrough = "none" in [participants.a]' in result.warnings[0]
    assert result.warnings[0] in loop.explain()


def test_what_cannot_be_looked_into_does_not_end_the_run() -> None:
    class Refuses(Affine):
        def set(self, names: Sequence[str], values: Sequence[Any]) -> None:
            if names and values[0] == pytest.approx(1e-3, rel=0.1):
                raise ValueError("out of range")
            super().set(names, values)

    parts = {"a": Refuses(lag=1.0, says="nothing"), "b": Affine(lag=1.0, says="nothing")}
    loop = CoSimulation(parts, LOOP, step=0.1)
    assert loop.simulate(0.1).time[-1] == 0.1
    assert any("determined (out" in text for text in loop.remarks)
    assert loop.warnings == (), "b.y is known not to depend on b.u, so no loop is left"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"c": "none"}, "participant 'c'"),
        ({"a": "nothing"}, 'needs "none", or inputs by outputs'),
        ({"a": {"z": []}}, "output 'z'"),
        ({"a": {"y": ["v"]}}, "input 'v'"),
        ({"a": {"y": "u"}}, "needs a list of inputs"),
    ],
)
def test_what_is_said_wrongly(said: Any, text: str) -> None:
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": Affine(), "b": Affine()}, LOOP, step=0.1, feedthrough=said)
    assert text in str(caught.value)


def test_in_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "loop.toml"
    series = "series = { y = [[0.0, 1.0]] }"
    path.write_text(
        f'[participants.a]\n{series}\nfeedthrough = {{ z = "u" }}\n[master]\nstep = 0.1\nuntil = 1.0\n'
    )
    with pytest.raises(cosim.ModelError, match="loop.toml:3: participants.a.feedthrough.*'u', needs a list"):
        Scenario.read(path).couple(CoSimulation)
    path.write_text(f'[participants.a]\n{series}\nfeedthrough = "none"\n[master]\nstep = 0.1\nuntil = 1.0\n')
    assert Scenario.read(path).couple(CoSimulation).simulate(1.0)["a.y"].tolist()[-1] == 1.0


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("jacobi", {"extrapolation": 1}),
        ("gauss_seidel", {"extrapolation": 2}),
        ("waveform_iteration", {}),
        ("interface_newton", {}),
        ("adaptive", {}),
    ],
)
@pytest.mark.parametrize("dependencies", [True, False])
def test_who_refuses_to_be_read_is_read_after_steps_alone(
    make_fmu: Any, algorithm: str, options: dict[str, Any], dependencies: bool
) -> None:
    strict = make_fmu("gain", name="strict", macros=("STRICT=1",), dependencies=dependencies)
    plant = Affine(lag=1.0, wave=1.0)
    wires = ["plant.y -> gain.u", "gain.y -> plant.u"]
    starts = {"gain.gain": -0.5}
    loop = CoSimulation(
        {"plant": plant, "gain": strict}, wires, algorithm, 0.01, options=options, starts=starts
    )
    result = loop.simulate(0.2)
    assert any("gain refuses" in text for text in loop.remarks)
    loose = CoSimulation(
        {"plant": Affine(lag=1.0, wave=1.0), "gain": make_fmu("gain", name="loose")},
        *(wires, "waveform_iteration", 0.001),
        starts=starts,
    )
    exact = loose.simulate(0.2)
    np.testing.assert_allclose(result["plant.y"][-1], exact["plant.y"][-1], atol=5e-3)
    if algorithm == "adaptive":  # what lags by half an exchange jumps wherever the length changes
        assert result.statistics["algorithm"]["exchanges"] < 3000


@pytest.mark.parametrize("known", [None, {"y1": frozenset[str]()}])
def test_outputs_of_which_nothing_is_known_share_one_set(known: Any) -> None:
    """An FMU with ten thousand variables would else have as many sets of thousands of inputs."""
    variables = {
        f"{name}{i}": kit.ParticipantVariable(f"{name}{i}", kind)
        for name, kind in (("u", "input"), ("y", "output"))
        for i in range(4)
    }
    found = with_feedthrough(
        kit.ParticipantDescription("wide", variables, known), {"y0": frozenset(["u3"])}
    ).feedthrough
    assert found is not None
    assert found["y0"] == {"u3"} and found["y1"] == (frozenset() if known else {"u0", "u1", "u2", "u3"})
    assert found["y2"] == {"u0", "u1", "u2", "u3"} and found["y2"] is found["y3"]
