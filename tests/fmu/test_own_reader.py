"""cosim's reader of modelDescription.xml agrees with fmpy's; encodings, nominal values and errors."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from same_as_fmpy import facts, facts_of_fmpy, read_by_fmpy

import cosim
from cosim_fmi.description.read_interface import read_interface
from cosim_fmi.description.read_model_description import read_model_description
from cosim_fmi.fmu_archive import FmuArchive
from cosim_fmi.validate.validate_command import check_file

DOCUMENT = """<fmiModelDescription fmiVersion="2.0" guid="{g}" modelName="m" generationTool="t"
numberOfEventIndicators="1">
<CoSimulation modelIdentifier="m" canInterpolateInputs="true"/>
<ModelExchange modelIdentifier="m" completedIntegratorStepNotNeeded="1"/>
<UnitDefinitions><Unit name="mm"><BaseUnit m="1" factor="0.001"/></Unit></UnitDefinitions>
<TypeDefinitions><SimpleType name="Length"><Real unit="mm" min="-1"/></SimpleType>
<SimpleType name="Mode"><Enumeration><Item name="on" value="1"/></Enumeration></SimpleType></TypeDefinitions>
<LogCategories><Category name="all"/></LogCategories><DefaultExperiment stopTime="2"/>
<ModelVariables>
<ScalarVariable name="x" valueReference="0" causality="output"><Real declaredType="Length"/></ScalarVariable>
<ScalarVariable name="u" valueReference="1" causality="input"><Real start="1" max="3"/></ScalarVariable>
<ScalarVariable name="mode" valueReference="2" causality="parameter" variability="fixed">
<Enumeration declaredType="Mode" start="1"/></ScalarVariable>
<ScalarVariable name="der" valueReference="3"><Real derivative="1"/></ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs><Unknown index="1" dependencies="2"/></Outputs>
<Derivatives><Unknown index="4"/></Derivatives>
<InitialUnknowns><Unknown index="4" dependencies=""/></InitialUnknowns>
</ModelStructure></fmiModelDescription>"""
CHANGES = {
    "a type's unit": ('unit="mm" min', 'unit="m" min'),
    "a start value": ('start="1" max', 'start="2" max'),
    "a causality": ('causality="input"', 'causality="local"'),
    "a dependency": ('dependencies="2"', 'dependencies="4"'),
    "an ability": ('canInterpolateInputs="true"', ""),
    "a factor": ("0.001", "0.002"),
    "a state": ('<Derivatives><Unknown index="4"/></Derivatives>', ""),
}


@pytest.fixture
def archive_of(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(document: bytes) -> Path:
        with zipfile.ZipFile(tmp_path / "m.fmu", "w") as archive:
            archive.writestr("modelDescription.xml", document)
        return tmp_path / "m.fmu"

    return write


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_comparison_with_fmpy_detects_each_kind_of_difference(change: tuple[str, str]) -> None:
    changed = DOCUMENT.replace(*change)
    assert changed != DOCUMENT
    facts_read_by_fmpy = facts_of_fmpy(read_by_fmpy(fromstring(DOCUMENT)))
    assert facts(read_model_description(fromstring(DOCUMENT))) == facts_read_by_fmpy
    assert facts(read_model_description(fromstring(changed))) != facts_read_by_fmpy


@pytest.mark.parametrize(
    ("derivative", "names"),
    [('derivative="1"', ["x"]), ("", []), ('derivative="9"', []), ('derivative=" 1 "', ["x"])],
)
def test_states_are_those_whose_derivatives_are_listed(derivative: str, names: list[str]) -> None:
    description = read_model_description(fromstring(DOCUMENT.replace('derivative="1"', derivative)))
    assert [variable.name for variable in description.state_variables] == names
    assert description.states == 1


@pytest.mark.parametrize(
    ("nominal", "size"),
    [("1e-6", 1e-6), ("-2", 2.0), ("0", None), ("", None), ("INF", None), ("NaN", None), ("small", None)],
)
def test_nominal_values_are_read(
    nominal: str, size: float | None, archive_of: Callable[[bytes], Path]
) -> None:
    document = DOCUMENT.replace('<Real start="1"', f'<Real start="1" nominal="{nominal}"').encode()
    variables = read_interface(FmuArchive(archive_of(document)), "CoSimulation").description.variables
    assert variables["u"].nominal == size
    assert variables["x"].nominal is None
    assert variables["mode"].nominal is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1", "cp437", "ascii", "iso-8859-15"])
def test_single_byte_and_unicode_encodings_are_read(
    encoding: str, archive_of: Callable[[bytes], Path]
) -> None:
    document = f'<?xml version="1.0" encoding="{encoding}"?>{DOCUMENT}'.encode(encoding)
    assert "x" in read_interface(FmuArchive(archive_of(document)), "CoSimulation").elements


@pytest.mark.parametrize(
    "encoding", ["foo", "UCS-4", "rot13", "base64", "zlib", "undefined", "shift_jis", "idna"]
)
def test_encodings_that_cannot_be_read_are_named(encoding: str, archive_of: Callable[[bytes], Path]) -> None:
    path = archive_of(f'<?xml version="1.0" encoding="{encoding}"?>{DOCUMENT}'.encode())
    with pytest.raises(cosim.FmuError, match=r"modelDescription\.xml.*read: its encoding"):
        FmuArchive(path)
    assert next(str(finding) for finding in check_file(path)).startswith(
        "error    archive: modelDescription.xml"
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (('<Real start="1" max="3"/>', ""), "variable u has no type"),
        (
            ('name="u" valueReference="1"', 'name="u" valueReference="one"'),
            "variable u: its valueReference is no",
        ),
        (('name="u" valueReference="1"', 'name="u"'), "variable u: its valueReference is not a number"),
        (('causality="input"', 'causality="sideways"'), "variable u cannot have causality 'sideways'"),
        (("ModelVariables", "Variables"), "it has no ModelVariables"),
        (('fmiVersion="2.0"', 'fmiVersion="7.0"'), "FMI version '7.0' is not known"),
    ],
)
def test_faults_of_a_description_are_named(
    change: tuple[str, str], sentence: str, archive_of: Callable[[bytes], Path]
) -> None:
    archive = FmuArchive(archive_of(DOCUMENT.replace(*change).encode()))
    with pytest.raises(cosim.FmuError, match=f"cannot be understood: .*{sentence}"):
        read_interface(archive, "CoSimulation")


def test_an_archive_can_be_read_twice(archive_of: Callable[[bytes], Path]) -> None:
    archive = FmuArchive(archive_of(DOCUMENT.encode()))
    first_reading, second_reading = (read_interface(archive, "CoSimulation") for _ in range(2))
    assert first_reading.elements == second_reading.elements and len(first_reading.elements) == 4
