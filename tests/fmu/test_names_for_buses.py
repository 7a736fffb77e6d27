"""Names of FMU variables: flat names, names that users choose, and warnings about names and omissions."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from export_parts import Oscillator
from export_tools import export, oscillator, running
from native_tools import export_native, needs_compiler

import cosim
from cosim.cli import main
from cosim_export.interface.fmu_exporter import bus_warnings
from cosim_export.interface.names import Naming
from cosim_export.interface.select_variables import select_variables

KINDS = [
    pytest.param("python", {}),
    pytest.param("native", {"fmi": 2}, marks=needs_compiler),
    pytest.param("native", {"fmi": 3}, marks=needs_compiler),
    pytest.param("native", {"fmi": 3, "scalars": True}, marks=needs_compiler),
]


def export_oscillator(kind: str, path: Path, **options: Any) -> Path:
    return (export if kind == "python" else export_native)(oscillator(), path, **options)


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "form"), KINDS)
def test_flat_names_are_identifiers(kind: str, form: dict[str, Any], tmp_path: Path) -> None:
    from fmpy import read_model_description
    from fmpy.validation import validate_fmu

    path = export_oscillator(kind, tmp_path / "flat.fmu", naming="flat", names={"felt": "sensed"}, **form)
    assert validate_fmu(str(path)) == []
    description = read_model_description(str(path))
    names = [v.name for v in description.modelVariables]
    assert description.variableNamingConvention == "flat"
    assert all(name.isidentifier() for name in names), names
    assert {"osc_x", "der_osc_x", "osc_mass", "sensed", "felt_delay"} <= set(names)
    arrays = form == {"fmi": 3}
    assert ({"osc_wind", "osc_turn"} if arrays else {"osc_wind_2", "osc_turn_2_1"}) <= set(names)
    assert bus_warnings(select_variables(oscillator().build(), all=True)) != ()
    state = next(v for v in description.modelVariables if v.name == "der_osc_x")
    assert state.derivative.name == "osc_x"


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["python", pytest.param("native", marks=needs_compiler)])
def test_renamed_variables_have_the_same_values(kind: str, tmp_path: Path) -> None:
    plain = export_oscillator(kind, tmp_path / "plain.fmu")
    renamed = export_oscillator(
        kind, tmp_path / "renamed.fmu", names={"osc.force": "push", "osc.wind": "gust"}
    )
    with running(plain) as plain_fmu, running(renamed) as renamed_fmu:
        for fmu, force, wind in ((plain_fmu, "osc.force", "osc.wind[2]"), (renamed_fmu, "push", "gust[2]")):
            fmu.start(**{force: 1.5, wind: 0.25})
            fmu.steps(0, 10)
        assert plain_fmu.references.keys() - renamed_fmu.references.keys() == {
            "osc.force",
            "osc.wind[1]",
            "osc.wind[2]",
        }
        assert plain_fmu.all() == renamed_fmu.all()


def test_a_derivative_is_named_after_its_state() -> None:
    variables = Naming.of("structured", {"osc.x": "place"}).renamed(select_variables(oscillator().build()))
    names = {v.name: v for v in variables}
    assert names["der(place)"].derivative_of == "place"
    assert "place" in names["osc.position"].dependencies


@pytest.mark.parametrize(
    ("naming", "names", "message"),
    [
        ("round", {}, "naming: is 'round', needs structured or flat"),
        ("flat", {"osc.froce": "push"}, "names: no variable of the FMU 'osc.froce'. Nearest: osc.force"),
        ("flat", {"felt": ""}, "names: 'felt' is called '', needs a name"),
        ("flat", {"felt": "a\nb"}, "needs a name: text without line breaks"),
        ("flat", {"felt": "osc_x"}, "felt and osc.x would both be called 'osc_x'"),
        ("structured", {"osc.x": "osc.v"}, "osc.x and osc.v would both be called 'osc.v'"),
        ("structured", {"osc.x": "felt", "osc.v": "felt"}, "felt and osc.x and osc.v would"),
    ],
)
def test_invalid_and_ambiguous_names_are_refused(
    naming: str, names: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(cosim.ModelError) as caught:
        export(oscillator(), tmp_path / "x.fmu", naming=naming, names=names, all=False)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_chosen_name_that_equals_a_flat_name_is_refused() -> None:
    model = cosim.Model("two")
    model.add(Oscillator, "a")
    model.add(Oscillator, "a_x")
    variables = select_variables(model.build(), expose=["a.x", "a_x.x"])
    with pytest.raises(cosim.ModelError, match="a_x"):
        Naming.of("flat", {"a.x": "a_x_x"}).renamed(variables)
    assert len({v.name for v in Naming.of("flat", None).renamed(variables)}) == len(variables)


@needs_compiler
def test_an_array_and_a_scalar_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(cosim.ModelError, match=r"both be called 'osc\.mass'"):
        export_native(oscillator(), tmp_path / "x.fmu", fmi=3, names={"osc.wind": "osc.mass"})


def test_a_variable_whose_name_is_also_a_prefix_is_a_warning_with_the_remedy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = oscillator()
    exporter = model.exporter(False)
    with caplog.at_level(logging.WARNING, "cosim.export"):
        report = exporter.export(model, tmp_path / "a.fmu")
    (warning,) = report.warnings
    assert "name of felt.delay begins" in warning
    assert "--naming flat" in warning and "--names felt=other" in warning
    assert [record.getMessage() for record in caplog.records] == [f"oscillator: {warning}"]
    for options in ({"naming": "flat"}, {"names": {"felt": "sensed"}}):
        assert exporter.export(model, tmp_path / "a.fmu", **options).warnings == ()


def test_the_summary_counts_what_is_left_out(tmp_path: Path) -> None:
    model = oscillator()
    exporter = model.exporter(False)
    report = exporter.export(model, tmp_path / "a.fmu", defaults=False)
    assert report.fallback == ""
    form, counts = report.summary.splitlines()
    assert form == "FMU that runs Python (FMI 2.0 Co-Simulation)"
    # mass, stiffness, damping, places, turn; longest_delay, default_value
    hint = "--all (all=True) shows everything; --parameters, --expose choose"
    assert counts == f"left out: 7 parameters, 1 state. {hint}"
    assert exporter.export(model, tmp_path / "a.fmu", all=True).summary == form
    report = exporter.export(model, tmp_path / "a.fmu", outputs=[], expose=[])
    assert "2 parameters, 4 states, 3 outputs" in report.summary


@pytest.mark.thorough
def test_names_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from fmpy import read_model_description

    file, target = tmp_path / "m.toml", tmp_path / "m.fmu"
    file.write_text(
        '[model]\nname = "m"\n[measures.wave]\ntype = "measures.sinusoid"\n'
        '[measures.felt]\ntype = "measures.delay"\nsource = "wave"\ndelay = 0.1\n',
        "utf-8",
    )

    def names(*words: str) -> list[str]:
        assert main(["export", str(file), "-o", str(target), "--python", *words]) == 0
        return [v.name for v in read_model_description(str(target)).modelVariables]

    assert "felt.delay" in names()
    output = capsys.readouterr()
    assert "warning: felt" in output.err and "left out: " in output.out
    assert names("-q") and capsys.readouterr().err == ""
    assert {"felt_delay", "w"} <= set(names("--naming", "flat", "--names", "wave=w"))
    for wrong_pair in ("wave", "wave=", "=w"):
        assert main(["export", str(file), "-o", str(target), "--python", "--names", wrong_pair]) != 0
        assert "has no other name" in capsys.readouterr().err
