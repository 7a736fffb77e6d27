"""Parts and methods in plain Python are named with their cost: before a run, and in its summary."""

import logging
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.cli import main
from cosim.kit import is_plain, python_in_steps
from cosim_workbench.summary import summary

pytestmark = pytest.mark.skipif(is_plain(), reason="everything is plain Python")


class Swing(cosim.Component):
    """A mass on a spring with a damper. Law: height'' = -height + push."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    push = cosim.input(unit="m/s2")

    @cosim.kernel
    def derivatives(height, speed, push, height_dot, speed_dot):  # type: ignore[no-untyped-def]
        height_dot[0] = speed
        speed_dot[0] = push - height


class Damper(cosim.Component):
    """A damper. Law: push = -speed / 10."""

    speed = cosim.input(unit="m/s")
    push = cosim.output(unit="m/s2")

    @cosim.kernel
    def law(speed, push):  # type: ignore[no-untyped-def]
        push[0] = -0.1 * speed


class PythonDamper(Damper):
    """The same by a method. Law: push = -speed / 10."""

    @cosim.kernel
    def law(self, speed, push):  # type: ignore[no-untyped-def]
        push[0] = -0.1 * speed


class Counter(cosim.Component):
    """Counts. Law: none."""

    counts = cosim.discrete(dtype=int)

    @cosim.every(0.25, does="discrete")
    def count(self, state: Any, next_state: Any) -> None:
        next_state[f"{self.name}.counts"] = state[f"{self.name}.counts"] + 1


def system_of(damper: type[cosim.Component], counters: int = 0) -> cosim.System:
    model = cosim.Model("swing")
    model.add(Swing, "swing")
    model.add(damper, "damper")
    model.connect("swing.speed", "damper.speed")
    model.connect("damper.push", "swing.push")
    for i in range(counters):
        model.add(Counter, f"counter{i}")
    return model.build()


@pytest.mark.parametrize(
    ("system", "method", "parts"),
    [
        (system_of(Damper), "runge_kutta_merson", []),
        (
            system_of(PythonDamper),
            "runge_kutta_merson",
            ["methods of damper are plain Python: some 30 µs in each"],
        ),
        (system_of(Damper, 1), "bdf", ["handlers counter0.count are plain Python: some 60 µs an event"]),
        (
            system_of(PythonDamper, 7),
            "scipy_radau",
            [
                "methods of damper are plain Python",
                ", ".join(f"counter{i}.count" for i in range(5)) + " and 2 more are plain Python",
                "the steps of ScipyRadau are plain Python: some 100 µs an evaluation",
            ],
        ),
    ],
)
def test_python_is_named_with_its_cost(
    system: cosim.System, method: str, parts: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    sentences = python_in_steps(system, cosim.registry().get("integrator", f"integrators.{method}"))
    assert len(sentences) == len(parts)
    assert all(part in sentence for sentence, part in zip(sentences, parts, strict=True))
    with caplog.at_level(logging.INFO, logger="cosim.simulation"):
        result = cosim.simulate(system, until=0.3, integrator=f"integrators.{method}")
    messages = [record.getMessage() for record in caplog.records]
    assert [message for message in messages if "plain Python" in message] == sentences
    assert result.statistics["python_in_steps"] == sentences
    assert summary("swing", result).count("plain Python") == len(sentences)


MODEL = """
[bodies.ball]
mass = 1.0
inertia = [1.0, 1.0, 1.0]
[joints.hinge]
type = "pin"
child = "ball"
frame_on_child = [0.0, 0.0, 1.0]
"""


@pytest.mark.parametrize("method", ["runge_kutta_merson", "scipy_radau"])
def test_the_command_prints_the_note_before_the_run(
    tmp_path: Path, method: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def simulate(system: cosim.System, **settings: Any) -> cosim.Result:
        notes.append(capsys.readouterr().err)
        return run(system, **settings)

    run, notes = cosim.simulate, list[str]()
    monkeypatch.setattr(cosim, "simulate", simulate)
    (tmp_path / "ball.toml").write_text(MODEL)
    for options in ([], ["--quiet"]):
        command = ["run", str(tmp_path / "ball.toml"), "--integrator", f"integrators.{method}"]
        assert main([*command, "-o", str(tmp_path / "ball.csv"), *options]) == 0
        is_noted = "note: the steps of ScipyRadau are plain Python" in notes.pop()
        assert is_noted == (method == "scipy_radau" and not options)
