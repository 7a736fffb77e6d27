"""Direct feedthrough is declared, set by the user or probed; real loops are iterated or refused."""

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
    """y = gain u + lag x + wave sin t with x' = u - x.

    Parameters
    ----------
    gain, lag, wave : float
    says : str
        What is declared: the ``truth``, that ``all`` outputs may have feedthrough, or ``nothing``.
    restores, has_derivatives : bool
        Abilities that the description declares.
    answers : str
        Whether outputs follow inputs ``at once``, only ``in steps``, or cannot be read between (``never``).
    """

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
        self.says, self.answers = says, answers
        self.restores, self.has_derivatives = restores, has_derivatives
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


class Adder(Affine):
    """y = u + v."""

    def __init__(self) -> None:
        super().__init__(1.0)
        self.v = 0.0

    def describe(self) -> kit.ParticipantDescription:
        description = super().describe()
        variables = {**description.variables, "v": kit.ParticipantVariable("v", "input")}
        return replace(description, variables=variables, feedthrough={"y": frozenset("uv")})

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


@pytest.mark.parametrize("says", ["all", "nothing"])
@pytest.mark.parametrize("probe", ["differences", "derivatives"])
def test_a_probe_shows_that_a_possible_loop_is_none(says: str, probe: str) -> None:
    """The participant is probed with one instance, and runs with another."""
    abilities = {"restores": probe == "differences", "has_derivatives": probe == "derivatives"}
    lag = Affine(lag=-1.0, says=says, **abilities)
    loop = CoSimulation({"a": Affine(2.0), "b": lag}, LOOP, step=0.1)
    explanation = loop.explain()
    assert loop.loops == () and loop.warnings == () and loop.order == ("a", "b")
    assert "depend directly on b.u" in explanation
    assert "not late" in explanation and "iterated" not in explanation
    result = loop.simulate(1.0)
    assert lag.instances == 2
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
    assert [set(iterated.participants) for iterated in loop.loops] == [{"a", "b"}]
    assert result.statistics["algorithm"]["iterations"] > 10
    assert "b step together" in loop.explain() and "not late: iterated" in loop.explain()


def test_participants_around_a_loop_are_in_order() -> None:
    parts: dict[str, Any] = {
        "reader": Affine(1.0),
        "b": Affine(-2.0),
        "source": Affine(wave=1.0),
        "a": Affine(0.5),
    }
    wires = ["b.y -> a.u", "a.y -> sum.u", "source.y -> sum.v", "sum.y -> b.u", "b.y -> reader.u"]
    loop = CoSimulation({**parts, "sum": Adder()}, wires, step=0.1)
    assert loop.order.index("source") < min(map(loop.order.index, ("a", "b", "sum")))
    assert loop.order[-1] == "reader"
    result = loop.simulate(1.0)
    # b = -2 (a + s), a = b / 2: b = -s
    np.testing.assert_allclose(result["b.y"][1:], -np.sin(result.time[1:]), rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(result["reader.y"][1:], result["b.y"][1:])


def test_the_message_for_a_loop_that_cannot_be_iterated_lists_what_to_do() -> None:
    without_states = Affine(0.5, restores=False)
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": Affine(0.5), "b": without_states}, LOOP, step=0.1)
    message = str(caught.value)
    assert "closes a loop" in message and "restore its state" in message
    assert "feedthrough = { y = [] } in [participants.a]" in message and '"jacobi"' in message
    with pytest.raises(cosim.ModelError, match="with these options does not iterate"):
        CoSimulation({"a": Affine(0.5), "b": Affine(0.5)}, LOOP, step=0.1, options={"extrapolation": 1})
    with pytest.raises(cosim.ModelError, match="longer communication step"):
        CoSimulation({"a": Affine(0.5), "b": Affine(0.5)}, LOOP, step=0.1, steps={"b": 0.2})


def test_a_loop_is_cut_where_the_user_declares_no_feedthrough() -> None:
    def make(**feedthrough: Any) -> CoSimulation:
        parts = {"a": Affine(0.5, restores=False, wave=1.0), "b": Affine(0.5, restores=False)}
        return CoSimulation(parts, LOOP, step=0.1, feedthrough=feedthrough)

    loop = make(b={"y": []})
    assert loop.order == ("a", "b") and loop.loops == ()
    result = loop.simulate(1.0)
    np.testing.assert_allclose(result["a.y"][1:], np.sin(result.time[1:]) + 0.5 * result["b.y"][:-1])
    assert make(a="none").order == ("b", "a")


def test_without_known_feedthrough_the_order_of_the_user_is_kept_with_a_warning() -> None:
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


def test_a_failed_probe_does_not_end_the_run() -> None:
    class Refuses(Affine):
        def set(self, names: Sequence[str], values: Sequence[Any]) -> None:
            if names and values[0] == pytest.approx(1e-3, rel=0.1):
                raise ValueError("out of range")
            super().set(names, values)

    parts = {"a": Refuses(lag=1.0, says="nothing"), "b": Affine(lag=1.0, says="nothing")}
    loop = CoSimulation(parts, LOOP, step=0.1)
    assert loop.simulate(0.1).time[-1] == 0.1
    assert any("determined (out" in text for text in loop.remarks)
    assert (
        loop.warnings == ()
    )  # the probe of b has shown that b.y does not depend on b.u, so there is no loop


@pytest.mark.parametrize(
    ("feedthrough", "text"),
    [
        ({"c": "none"}, "participant 'c'"),
        ({"a": "nothing"}, 'needs "none", or inputs by outputs'),
        ({"a": {"z": []}}, "output 'z'"),
        ({"a": {"y": ["v"]}}, "input 'v'"),
        ({"a": {"y": "u"}}, "needs a list of inputs"),
    ],
)
def test_wrong_settings_of_feedthrough_are_refused(feedthrough: Any, text: str) -> None:
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": Affine(), "b": Affine()}, LOOP, step=0.1, feedthrough=feedthrough)
    assert text in str(caught.value)


def test_a_scenario_sets_feedthrough(tmp_path: Path) -> None:
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
def test_an_fmu_that_cannot_be_read_after_its_inputs_are_set_is_read_after_steps_only(
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
    if algorithm == "adaptive":  # an output that lags by half an exchange jumps where the length changes
        assert result.statistics["algorithm"]["exchanges"] < 3000


@pytest.mark.parametrize("known", [None, {"y1": frozenset[str]()}])
def test_outputs_with_unknown_feedthrough_share_one_set(known: Any) -> None:
    """Otherwise an FMU with ten thousand variables would have as many sets of thousands of inputs."""
    variables = {
        f"{name}{i}": kit.ParticipantVariable(f"{name}{i}", kind)
        for name, kind in (("u", "input"), ("y", "output"))
        for i in range(4)
    }
    feedthrough = with_feedthrough(
        kit.ParticipantDescription("wide", variables, known), {"y0": frozenset(["u3"])}
    ).feedthrough
    assert feedthrough is not None
    assert feedthrough["y0"] == {"u3"} and feedthrough["y1"] == (
        frozenset() if known else {"u0", "u1", "u2", "u3"}
    )
    assert feedthrough["y2"] == {"u0", "u1", "u2", "u3"} and feedthrough["y2"] is feedthrough["y3"]
