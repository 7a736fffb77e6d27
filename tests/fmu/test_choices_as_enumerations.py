"""Parameters with choices: names in models and files, numbers in kernel functions, enumerations in FMUs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from export_tools import export, running
from mixer import Mixer
from native_tools import export_native, needs_compiler

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_workbench.component_schema import component_schema

KINDS = [
    pytest.param("python", 2),
    pytest.param("native", 2, marks=needs_compiler),
    pytest.param("native", 3, marks=needs_compiler),
]
WriteFmu = Callable[[str, int], Path]


def mixer(**values: Any) -> cosim.Model:
    model = cosim.Model("mixer")
    model.add(Mixer, "mixer", **values)
    return model


def mixed(system: cosim.System, **values: Any) -> float:
    """The output of a mixer with the given values."""
    state = system.default_state()
    for name, value in values.items():
        state[f"mixer.{name}"] = value
    state.realize()
    return float(state["mixer.mixed"])


def test_a_kernel_function_receives_the_number_of_a_choice() -> None:
    system = mixer(law="square root").build()
    assert mixed(system) == 2.0 + 200.0 + 1000.0
    assert mixed(system, law="linear", ends=["open", "closed"]) == 4.0 + 100.0 + 2000.0
    assert mixed(system, law=2) == 16.0 + 200.0 + 1000.0  # hosts and sweeps set the number


@pytest.mark.parametrize("wrong", ["cubic", 0, 4, 1.5, True, float("nan"), ["linear", "square"], None])
def test_other_values_are_refused(wrong: Any) -> None:
    with pytest.raises(cosim.ModelError, match=r"law (is|has|is missing).*needs|law is nan|law is missing"):
        Mixer(law=wrong)
    system = mixer().build()
    if wrong is not None:
        with pytest.raises(cosim.CosimError):
            mixed(system, law=wrong)


def test_the_message_lists_the_choices() -> None:
    with pytest.raises(cosim.ModelError, match="'cubic', needs.*'linear', 'square', 'square root'"):
        Mixer(law="cubic")
    with pytest.raises(cosim.ModelError, match=r"ends\[1\].*3, needs.*'open', 'closed'"):
        Mixer(ends=[1, 3])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"choices": ("a", "a")}, "lists a choice twice"),
        ({"choices": "ab"}, "needs texts"),
        ({"choices": (1, 2)}, "needs texts"),
        ({"choices": ("a", " ")}, "needs texts"),
        ({"choices": ("a", "b"), "default": "c"}, "default 'c' is not one of the choices"),
        ({"choices": ("a", "b"), "unit": "m"}, "no unit, bounds"),
        ({"choices": ("a", "b"), "maximum": 1}, "no unit, bounds"),
        ({"choices": ("a", "b"), "dtype": int}, "no unit, bounds"),
    ],
)
def test_wrong_declarations_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(cosim.ContractError, match=sentence):
        cosim.parameter(**options)


def test_the_schema_of_model_files_lists_the_choices() -> None:
    law = component_schema(Mixer)["properties"]["law"]
    assert law["anyOf"][0] == {"enum": ["linear", "square", "square root"]}
    assert law["default"] == "square"


@pytest.fixture(scope="module")
def write_fmu(tmp_path_factory: pytest.TempPathFactory) -> WriteFmu:
    """A function that writes the FMU of a mixer, each kind once."""
    folder = tmp_path_factory.mktemp("mixers")

    def write(kind: str, version: int) -> Path:
        path = folder / f"{kind}{version}.fmu"
        if path.exists():
            return path
        return export(mixer(), path) if kind == "python" else export_native(mixer(), path, fmi=version)

    return write


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_fmus_declare_enumerations_with_items(kind: str, version: int, write_fmu: WriteFmu) -> None:
    from fmpy import read_model_description
    from fmpy.validation import validate_fmu

    path = write_fmu(kind, version)
    assert validate_fmu(str(path)) == []
    variables = {v.name: v for v in read_model_description(str(path)).modelVariables}
    law, ends = variables["mixer.law"], variables["mixer.ends" if version == 3 else "mixer.ends[2]"]
    assert (law.type, law.variability, law.start) == ("Enumeration", "tunable", "2")
    assert law.declaredType.name == "Law" and ends.declaredType.name == "Ends"
    assert [(item.name, int(item.value)) for item in law.declaredType.items] == [
        ("linear", 1),
        ("square", 2),
        ("square root", 3),
    ]
    assert ends.start == ("2 1" if version == 3 else "1")


@pytest.mark.parametrize(("kind", "version"), KINDS[:2])
def test_hosts_set_and_read_numbers_of_items(kind: str, version: int, write_fmu: WriteFmu) -> None:
    with running(write_fmu(kind, version)) as fmu:
        fmu.types = {n: "Integer" if t == "Enumeration" else t for n, t in fmu.types.items()}
        fmu.start(**{"mixer.law": 3})
        assert (fmu["mixer.law"], fmu["mixer.mixed"]) == (3, 1202.0)
        fmu["mixer.law"] = 1
        fmu["mixer.ends[2]"] = 2
        assert fmu["mixer.mixed"] == 2204.0
        for wrong in (0, 4):
            with pytest.raises(Exception, match="fmi2SetInteger"):
                fmu["mixer.law"] = wrong
        assert (fmu["mixer.law"], fmu["mixer.mixed"]) == (1, 2204.0)
        with pytest.raises(Exception, match="fmi2GetReal"):
            fmu.slave.getReal([fmu.references["mixer.law"]])


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_a_co_simulation_sets_choices_by_name(kind: str, version: int, write_fmu: WriteFmu) -> None:
    path = write_fmu(kind, version)
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.mixer.law": "square root"})
    assert loop.simulate(0.2)["m.mixer.mixed"][-1] == 1202.0


def test_the_command_describe_lists_the_choices_of_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "measures.delay"]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if " interpolation " in line]
    words = ["one", "of", "'hermite',", "'dense_output';", "default", "'hermite'"]
    assert row.split() == ["option", "interpolation", *words]
