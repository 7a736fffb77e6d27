"""``[[changes]] at = …``: values of inputs and parameters that change at times."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_tools import oscillator

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_fmu.scenario.scenario import Scenario
from cosim_fmu.scenario.scenario_changes import make_changes
from cosim_master.participants.system_participant import SystemParticipant

MakeFmu = Callable[..., Path]
CHANGES = """\
[participants.m]
fmu = "mass.fmu"
parameters.f = 1.0
[participants.t]
fmu = "types.fmu"
[master]
algorithm = "gauss_seidel"
step = 0.1
until = 0.5
[output]
signals = ["m.f", "t.*_in"]
[[changes]]
at = "0.3 s"
set = { "m.f" = 3.0, t.boolean_in = true }
[[changes]]
at = 0.1
set = { "m.f" = "2 kN", t.integer_in = 7 }
"""
TUNED = """\
[participants.o]
fmu = "oscillator.fmu"
parameters = { "osc.stiffness" = 8.0, "osc.damping" = 0.0, "osc.places[3]" = 0.0, "osc.x" = 0.5 }
[master]
algorithm = "jacobi"
step = 0.1
until = 3.0
tolerance = 1e-10
[[changes]]
at = "1 s"
set = { "o.osc.stiffness" = 32.0 }
[[changes]]
at = "2 s"
set = { "o.osc.mass" = "8 kg" }
"""


def test_inputs_change_at_times(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    make_fmu("types")
    (tmp_path / "s.toml").write_text(CHANGES, "utf-8")
    scenario = Scenario.read(tmp_path / "s.toml")
    result = scenario.couple(CoSimulation).simulate(scenario.until, record=scenario.signals)
    assert result["m.f"].tolist() == [1.0, 1.0, 2000.0, 2000.0, 3.0, 3.0]
    assert result["t.boolean_in"].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    assert result["t.integer_in"].tolist() == [0.0, 0.0, 7.0, 7.0, 7.0, 7.0]


def test_a_change_after_the_end_is_a_warning(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass")
    make_fmu("types")
    (tmp_path / "s.toml").write_text(CHANGES, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["cosimulate", "s.toml"]) == 0
    assert "changes[" not in capsys.readouterr().err
    assert main(["cosimulate", "s.toml", "--until", "200 ms"]) == 0
    warnings = capsys.readouterr().err
    assert "warning: changes[0] is at 0.3" in warnings
    assert "changes[1]" not in warnings


@pytest.fixture(scope="module")
def tuned_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tuned") / "oscillator.fmu"
    return oscillator(mass=2.0, stiffness=7.0).export_fmu(path, all=True, native=False)


def free_motion(x: float, v: float, rate: float, time: Any) -> tuple[Any, Any]:
    """Position and speed of an undamped oscillator, a time after it was at `x` with the speed `v`."""
    cosine, sine = np.cos(rate * time), np.sin(rate * time)
    return x * cosine + v / rate * sine, v * cosine - rate * x * sine


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel", "waveform_iteration"])
@pytest.mark.parametrize("kind", ["fmu", "system"])
def test_parameters_change_at_times(tmp_path: Path, tuned_fmu: Path, kind: str, algorithm: str) -> None:
    shutil.copy(tuned_fmu, tmp_path)
    text = TUNED.replace("jacobi", algorithm)
    if kind == "system":  # its array elements count from 0
        text = text.replace('"osc.places[3]" = 0.0', '"osc.places[2]" = 0.0')
    (tmp_path / "s.toml").write_text(text, "utf-8")
    scenario = Scenario.read(tmp_path / "s.toml")
    if kind == "system":
        scenario.participants["o"] = SystemParticipant(oscillator(mass=2.0, stiffness=7.0))
    result = scenario.couple(CoSimulation).simulate(scenario.until)
    # the rate is sqrt(stiffness / mass): 2/s, from 1 s on 4/s, from 2 s on 2/s
    time = result.time
    x1, v1 = free_motion(0.5, 0.0, 2.0, 1.0)
    x2, v2 = free_motion(x1, v1, 4.0, 1.0)
    expected = free_motion(0.5, 0.0, 2.0, time)[0]
    expected = np.where(time > 1.0, free_motion(x1, v1, 4.0, time - 1.0)[0], expected)
    expected = np.where(time > 2.0, free_motion(x2, v2, 2.0, time - 2.0)[0], expected)
    np.testing.assert_allclose(result["o.osc.position"], expected, atol=1e-7)
    assert result["o.osc.stiffness"].tolist() == [8.0] * 11 + [32.0] * 20


def test_parameters_of_a_model_keep_their_values_until_the_change(tmp_path: Path) -> None:
    values: dict[str, Any] = {"stiffness": 7.0, "places": (0.4, 0.5, 0.6)}
    participant = SystemParticipant(oscillator(**values))
    starts = {"o.osc.turn": [[5.0, 6.0], [7.0, 8.0]]}
    names = ["o.osc.stiffness", "o.osc.places[1]", "o.osc.turn[2]"]
    entries = [{"at": 0.2, "set": dict.fromkeys(names, 9.0)}]
    problems: list[str] = []
    changes, wires = make_changes(
        entries, {"o": participant}, starts, lambda key, text: problems.append(text)
    )
    assert changes is not None and not problems
    loop = CoSimulation({"o": participant, "changes": changes}, wires, "jacobi", 0.1, starts=starts)
    result = loop.simulate(0.3, record=names)
    assert [result[name][[0, 3]].tolist() for name in names] == [[7.0, 9.0], [0.5, 9.0], [7.0, 9.0]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"m.f" = 3.0',
            '"m.ff" = 3.0',
            ":12: changes[0]: no input or tunable parameter of m 'ff'. Nearest: f.",
        ),
        ('"m.f" = 3.0', '"n.f" = 3.0', ":12: changes[0]: no participant 'n'."),
        ('"m.f" = 3.0', '"m.k" = 3.0', ":12: changes[0]: m.k is a parameter that may not be set"),
        (
            '"m.f" = 3.0',
            '"m.v" = 3.0',
            ":12: changes[0]: m.v is of causality output: only inputs and parameters",
        ),
        ('"m.f" = 3.0', '"m.f" = "3 m"', ":12: changes[0]: m.f: '3 m': "),
        ("t.boolean_in = true", 't.string_in = "a"', "t.string_in is string: only numbers change at times"),
        ("at = 0.1\n", "", ":15: changes[1]: needs at = "),
        ("at = 0.1\n", "at = 0.1\nwhy = 3\n", ":17: changes[1].why: no key 'why'."),
        ("[participants.t]", "[participants.changes]", "is the name of what gives [[changes]]"),
        ("[participants.t]", 'connections = ["t.real_out -> m.f"]\n[participants.t]', "no key 'connections'"),
    ],
)
def test_wrong_changes_are_named_with_their_line(
    make_fmu: MakeFmu, tmp_path: Path, old: str, new: str, message: str
) -> None:
    make_fmu("mass")
    make_fmu("types")
    text = CHANGES.replace(old, new)
    assert text != CHANGES
    (tmp_path / "s.toml").write_text(text, "utf-8")
    with pytest.raises(cosim.ModelError) as failure:
        Scenario.read(tmp_path / "s.toml").couple(CoSimulation)
    assert message in str(failure.value)
