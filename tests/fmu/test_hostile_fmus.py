"""FMUs with unusual or wrong descriptions and files run correctly or are refused with one message."""

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from odd_fmu import HEAD, VARIABLES

import cosim
from cosim_fmu import CoSimulation, CoSimulationError

Compiled = Callable[..., Path]


def run(path: Path, until: float = 0.3, algorithm: str = "jacobi", **options: Any) -> Any:
    """Run an FMU alone with communication steps of 0.1 s."""
    return CoSimulation({"m": path}, [], algorithm, 0.1, **options).simulate(until)


def test_an_fmu_may_need_a_tool_have_aliases_and_declare_no_start_values(make_odd_fmu: Any) -> None:
    variables = """<ScalarVariable name="y" valueReference="0" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="y again" valueReference="0"><Real/></ScalarVariable>
<ScalarVariable name="u" valueReference="1" causality="input"><Real/></ScalarVariable>
<ScalarVariable name="gain" valueReference="2" causality="parameter"><Real/></ScalarVariable>"""
    path = make_odd_fmu("gain", variables, abilities='needsExecutionTool="true"')
    loop = CoSimulation({"m": path, "n": path}, [("m.y", "n.u")], "gauss_seidel", 0.1, starts={"m.u": 2.0})
    result = loop.simulate(0.2, record=["*"])
    assert result["m.y again"].tolist() == result["n.y"].tolist() == [2.0, 2.0, 2.0]


def test_an_fmu_may_have_no_variables(make_odd_fmu: Any) -> None:
    result = run(make_odd_fmu("gain", ""))
    assert result.time == pytest.approx([0.0, 0.1, 0.2, 0.3]) and not result.signals


@pytest.mark.thorough
def test_an_fmu_may_have_ten_thousand_variables(make_odd_fmu: Any) -> None:
    variables = VARIABLES + "".join(
        f'<ScalarVariable name="x[{i}]" valueReference="0" causality="output"><Real/></ScalarVariable>'
        for i in range(10_000)
    )
    result = run(make_odd_fmu("gain", variables), starts={"m.u": 3.0})
    assert len(result.signals) == 10_001
    assert set(map(float, result["m.x[9999]"])) == {3.0}


@pytest.mark.parametrize(
    "name", ["a b", "a.b.c[1,2].d", "der(größe)", "x[*]", "'quoted.name'", "a/b:c", "Ω→", "a&amp;b", " lead"]
)
def test_variables_may_have_any_name(make_odd_fmu: Any, name: str) -> None:
    plain = name.replace("&amp;", "&")
    variables = f"""<ScalarVariable name="{name}" valueReference="0" causality="output"><Real/>
</ScalarVariable>
<ScalarVariable name="in {name}" valueReference="1" causality="input"><Real start="4"/></ScalarVariable>
<ScalarVariable name="gain" valueReference="2" causality="parameter"><Real start="1"/></ScalarVariable>"""
    path = make_odd_fmu("gain", variables)
    # a name with a * would be a bus of connections
    links: list[Any] = [{"from": f"m.{plain}", "to": f"n.in {plain}"}] * ("*" not in name)
    result = CoSimulation(
        {"m": path, "n": path}, links, "jacobi", 0.1, starts={f"m.in {plain}": 5.0}
    ).simulate(0.2, record=[f"n.{plain}"])
    assert result[f"n.{plain}"][-1] == (5.0 if links else 0.0)


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("\ufeff" + HEAD, "utf-8"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>', "latin-1"),
        ('<?xml version="1.0" encoding="latin-1"?><!-- that Python alone knows -->', "latin-1"),
        ('<?xml version="1.0" encoding="UTF-16"?>', "utf-16"),
        ("", "utf-8"),
    ],
)
def test_model_descriptions_may_have_several_encodings(make_odd_fmu: Any, head: str, encoding: str) -> None:
    path = make_odd_fmu("gain", VARIABLES.replace('"y"', '"Höhe"'), head=head, encoding=encoding)
    assert run(path, starts={"m.u": 1.0})["m.Höhe"].tolist() == [1.0] * 4


def test_an_fmu_may_read_resources_return_null_for_a_string_and_log_bytes_that_are_not_utf8(
    make_odd_fmu: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of its resources has spaces, letters beyond ASCII and a percent sign."""
    folder = tmp_path / "mit Leerzeichen ünd 100%"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    text = '<ScalarVariable name="s" valueReference="0" causality="output"><String/></ScalarVariable>'
    path = make_odd_fmu("odd", VARIABLES + text, more={"resources/number": b"7"})
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.u": 0.5})
    texts = []
    result = loop.simulate(0.2, observe=lambda t, values: texts.append(loop.participants["m"].get(["s"])))  # type: ignore[func-returns-value]
    assert result["m.y"].tolist() == [0.0, 7.5, 7.5]
    assert texts == [[""]] * 3
    failing = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.u": 2.0})
    with pytest.raises(CoSimulationError, match="fmi2DoStep: failed with status error.*na.ve"):
        failing.simulate(0.2)


def test_without_saved_states_an_iterating_algorithm_is_refused(make_odd_fmu: Any) -> None:
    with pytest.raises(cosim.ModelError, match="restore.*do without, gauss_seidel"):
        run(make_odd_fmu("gain"), algorithm="waveform_iteration")


def test_an_fmu_of_sources_is_refused_with_the_command_that_compiles_it(make_odd_fmu: Any) -> None:
    """Without declared source files, fmpy cannot compile them, so that no command is named."""
    path = make_odd_fmu("gain", library=False, more={"sources/gain.c": b"int x;"})
    with pytest.raises(cosim.FmuError, match=r"binary.*C sources.*modelDescription\.xml"):
        run(path)
    source_files = '<SourceFiles><File name="gain.c"/></SourceFiles>'
    with zipfile.ZipFile(path) as archive:
        text = archive.read("modelDescription.xml").decode()
    start = text.index("<CoSimulation")
    end = text.index("/>", start)
    declared = f"{text[:end]}>{source_files}</CoSimulation>{text[end + 2 :]}"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", declared)
        archive.writestr("sources/gain.c", "int x;")
    with pytest.raises(cosim.FmuError, match=r"binary.*'fmpy compile odd\.fmu'.*CMake"):
        run(path)


@pytest.mark.skipif(sys.platform != "linux", reason="ELF is Linux's format")
@pytest.mark.parametrize("size", [100, 2000, 5000])
def test_a_truncated_library_is_an_error_and_no_crash(
    make_odd_fmu: Any, compiled: Compiled, size: int
) -> None:
    from fmpy import platform

    truncated = compiled("gain").read_bytes()[:size]
    path = make_odd_fmu("gain", library=False, more={f"binaries/{platform}/gain.so": truncated})
    with pytest.raises(cosim.SimulationError, match="the library cannot be loaded"):
        run(path)


def test_small_faults_of_a_description_are_ignored(make_odd_fmu: Any) -> None:
    """Dependencies may have further blanks and indices that do not exist."""
    for number, dependencies in enumerate(["  2 \n ", "2 17", "0"]):
        structure = (
            f'<Outputs><Unknown index="1" dependencies="{dependencies}"/><Unknown index="17"/></Outputs>'
            '<InitialUnknowns><Unknown index="0"/></InitialUnknowns>'
        )
        result = run(make_odd_fmu("gain", structure=structure, name=f"odd{number}"), starts={"m.u": 1.0})
        assert result["m.y"][0] == 1.0


def test_a_variable_without_a_type_is_an_error(make_odd_fmu: Any) -> None:
    path = make_odd_fmu("gain", VARIABLES + '<ScalarVariable name="lost" valueReference="7"/>')
    with pytest.raises(cosim.FmuError, match="understood: .*variable"):
        run(path)


def test_a_start_value_of_nan_is_refused(make_odd_fmu: Any) -> None:
    with pytest.raises(cosim.ModelError, match=r"m\.u.*finite number"):
        run(make_odd_fmu("gain"), starts={"m.u": np.nan})


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_outputs_are_not_read_between_setting_inputs_and_a_step(make_fmu: Any, algorithm: str) -> None:
    """FMI 2.0.4, section 4.2.1, forbids it after initialization; a strict FMU refuses it."""
    path = make_fmu("gain", macros=("STRICT=1",))
    names = ["a", "b", "c"]
    links = [("a.y", "b.u"), ("b.y", "c.u")]
    starts = {"a.u": 1.0} | {f"{name}.gain": 2.0 for name in names}
    result = CoSimulation(dict.fromkeys(names, path), links, algorithm, 0.1, starts=starts).simulate(0.3)
    assert result["c.y"].tolist() == [8.0] * 4
