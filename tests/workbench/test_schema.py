"""JSON Schemas of model and scenario files: files that readers accept are valid, and wrong ones are not."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.cli import main
from cosim_workbench.component_schema import component_schema

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).parents[2]
FILES = [*sorted(ROOT.glob("examples/**/*.toml")), *sorted(ROOT.glob("benchmarks/**/*.toml"))]


def checker(kind: str) -> Any:
    """The validator of a kind of files."""
    classes = {entry.cls.name: entry.cls for entry in cosim.registry().entries("file_schema")}
    return jsonschema.Draft202012Validator(classes[kind]().schema())


@pytest.fixture(scope="module")
def model() -> Any:
    return checker("model")


@pytest.fixture(scope="module")
def scenario() -> Any:
    return checker("scenario")


def faults(validator: Any, text: str) -> list[str]:
    """The messages about a file with this text."""
    return [error.message for error in validator.iter_errors(tomllib.loads(text))]


def entries_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The tables in the tables of a file: parts of a model, participants of a scenario."""
    tables = [table for table in data.values() if isinstance(table, dict)]
    return [entry for table in tables for entry in table.values() if isinstance(entry, dict)]


@pytest.mark.parametrize("kind", ["scenario", pytest.param("model", marks=pytest.mark.thorough)])
def test_each_schema_is_valid(kind: str, request: pytest.FixtureRequest) -> None:
    """The one of models is large; schemas of components are checked below."""
    jsonschema.Draft202012Validator.check_schema(request.getfixturevalue(kind).schema)


def test_examples_are_valid(model: Any, scenario: Any) -> None:
    counts = {"model": 0, "scenario": 0}
    for path in FILES:
        data = tomllib.loads(path.read_text("utf-8"))
        if "project" in data or "acme" in path.read_text("utf-8") or path.name == "claims.toml":
            continue  # a package, components of plugins that are not installed here, measured figures
        kind = "scenario" if "master" in data else "model"
        if any(str(part.get("type", "")).startswith("engine_mount.") for part in entries_of(data)):
            continue
        counts[kind] += 1
        messages = [error.message for error in {"model": model, "scenario": scenario}[kind].iter_errors(data)]
        assert not messages, f"{path}: {messages}"
    assert counts["model"] >= 1 and counts["scenario"] >= 1, counts


MODEL = """\
[model]
name = "swing"
gravity = [0, 0, -9.81]
[bodies.bob]
mass = "2 kg"
inertia = [1, 2, 3]
joint = { type = "pin", frame_on_child = [0, 0, 1] }
[elements.spring]
type = "linear_bushing"
body1 = "ground"
body2 = "bob"
stiffness = [0, 0, 0, 1, "2 N/mm", 3]
damping = [0, 0, 0, 1, 1, 1]
[measures.late]
type = "delay"
source = "bob.z"
delay = 0.1
[simulation]
until = "2 s"
integrator = "runge_kutta_merson"
output = { interval = 0.01, signals = ["bob.z"] }
[[connections]]
from = "late"
to = "x.y"
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "swing"', 'nam = "swing"'),
        ("gravity = [0, 0, -9.81]", "gravty = [0, 0, -9.81]"),
        ("gravity = [0, 0, -9.81]", "gravity = [0, 0]"),
        ("gravity = [0, 0, -9.81]", "gravity = true"),
        ('mass = "2 kg"', "mas = 2"),
        ("delay = 0.1", "delay = -1"),
        ("delay = 0.1", "delay = [[true]]"),
        ("[elements.spring]", "[elementz.spring]"),
        ('"linear_bushing"', '"linear_bushin"'),
        ('[0, 0, 0, 1, "2 N/mm", 3]', "[0, 0, 0]"),
        ('source = "bob.z"', "source = 3"),
        ('until = "2 s"', "until = 0"),
        ('until = "2 s"', "untill = 1"),
        ('"runge_kutta_merson"', '"runge"'),
        ("interval = 0.01", "intervall = 0.01"),
        ('to = "x.y"', ""),
    ],
)
def test_a_wrong_model_is_not_valid(model: Any, old: str, new: str) -> None:
    assert faults(model, MODEL) == []
    text = MODEL.replace(old, new)
    assert text != MODEL
    assert faults(model, text)


SCENARIO = """\
connections = ["a.y -> b.u", { from = "b.y", to = "a.u", factor = 2.0, map = { 1 = 2 } }]
parameter_files = "x.csv"
[participants.a]
fmu = "a.fmu"
parameters.engine.mass = "2 t"
[participants.b]
model = "b.toml"
step = "2 ms"
process = true
[participants.c]
series = { u = [[0, 1.0]] }
options = { interpolation = "linear" }
[master]
algorithm = "gauss_seidel"
options = { extrapolation = 1 }
step = "1 ms"
until = 2
[output]
inside = "steps"
signals = ["a.*"]
[[changes]]
at = "1 s"
set = { "a.u" = 3 }
[variants.heavy.master]
until = 3
[variants.heavy.participants.a]
parameters.mass = 3
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"a.y -> b.u"', '"a.y b.u"'),
        ("factor = 2.0", "gain = 2.0"),
        ('fmu = "a.fmu"', 'fmu = "a.fmu"\nmodel = "a.toml"'),
        ('model = "b.toml"', 'modell = "b.toml"'),
        ("process = true", 'process = "yes"'),
        ('"gauss_seidel"', '"newton"'),
        ("{ extrapolation = 1 }", "{ extrapolate = 1 }"),
        ('step = "1 ms"', "step = -1"),
        ('inside = "steps"', 'inside = "all"'),
        ('at = "1 s"', 'at = "1 s"\nwhen = "a.y > 1"'),
        ('at = "1 s"', 'until = "1 s"'),
        ("[variants.heavy.master]\nuntil", "[variants.heavy.master]\nuntill"),
    ],
)
def test_a_wrong_scenario_is_not_valid(scenario: Any, old: str, new: str) -> None:
    assert faults(scenario, SCENARIO) == []
    text = SCENARIO.replace(old, new)
    assert text != SCENARIO
    assert faults(scenario, text)


def test_defaults_of_each_component_are_valid() -> None:
    count = 0
    for entry in cosim.registry().entries("component"):
        schema = component_schema(entry.cls)
        jsonschema.Draft202012Validator.check_schema(schema)
        for name, inner in schema["properties"].items():
            if "default" in inner:
                jsonschema.Draft202012Validator(inner).validate(inner["default"])
                count += 1
            assert name in entry.cls.declarations
    assert count > 50


def test_the_command_prints_and_writes_schemas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "scenario"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "cosim scenario"
    assert main(["schema", "model", "-o", str(tmp_path / "model.json")]) == 0
    assert json.loads((tmp_path / "model.json").read_text("utf-8"))["title"] == "cosim model"
    assert main(["schema", "modell"]) == 2
    assert "schema 'modell'. Nearest: model" in capsys.readouterr().err
