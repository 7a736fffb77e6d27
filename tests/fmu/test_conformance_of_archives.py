"""Exported FMUs contain licenses, an icon, terminals, and units, nominals and variabilities of variables."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import fmpy
import pytest
from export_parts import Ball, Oscillator
from export_tools import export
from native_tools import export_native, needs_compiler

import cosim
from cosim_export.interface.icon import SIZE, icon
from cosim_export.interface.select_variables import select_variables
from cosim_export.native.native_sources import NativeChoices, NativeSources
from cosim_mechanics import Multibody

KINDS = [
    pytest.param("python", 2),
    pytest.param("native", 2, marks=needs_compiler),
    pytest.param("native", 3, marks=needs_compiler),
]


def rod() -> Multibody:
    """A driven rod with two measures: its filtered angle, and a torque in proportion to that angle."""
    model = Multibody("rod", gravity=(0, 0, -9.81), license="MIT", author="Ada", copyright="© 2026 Ada")
    body = model.body("rod", mass=2.0, center_of_mass=(-0.0, 0, 0.3), inertia=(0.1, 0.2, 0.2))
    model.joint("pin", child=body, name="hinge")
    model.add("mechanics.actuator", "motor", coordinate="hinge")
    model.add("mechanics.coordinate_stop", "stop", coordinate="hinge", lower=-1, upper=1.0, stiffness=500.0)
    model.measure("measures.first_order_filter", "late", source="hinge.angle", time_constant="20 ms")
    model.measure("measures.scale", "push", source="late", factor="30 N.m/rad")
    return model


class Thermostat(cosim.Component):
    """Samples a temperature every 0.1 s; the heat is in proportion to the sample's difference to 300 K."""

    temperature = cosim.input(unit="K")
    sample = cosim.discrete(unit="K")
    heat = cosim.output(unit="W")
    seen = cosim.output(unit="K")

    @cosim.every(0.1, does="discrete")
    def take_sample(temperature, sample_next):
        sample_next[0] = temperature

    @cosim.kernel
    def heat_up(sample, heat):
        heat[0] = 10.0 * (300.0 - sample)

    @cosim.kernel
    def show(temperature, seen):
        seen[0] = temperature


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A function that returns the files of the rod's FMU; each kind is exported once."""
    folder = tmp_path_factory.mktemp("archives")

    def read_files(kind: str, version: int) -> dict[str, bytes]:
        path = folder / f"{kind}{version}.fmu"
        if not path.exists():
            options = {"outputs": ["push", "late", "hinge.angle"], "all": False}
            _ = (
                export(rod(), path, **options)
                if kind == "python"
                else export_native(rod(), path, fmi=version, **options)
            )
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    return read_files


@pytest.mark.few(1)
@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_the_first_license_file_names_the_others(kind: str, version: int, archives: Any) -> None:
    files = archives(kind, version)
    text = files["documentation/licenses/license.txt"].decode()
    assert text.startswith("The model: MIT\nAuthor: Ada\nCopyright: © 2026 Ada\n")
    folder = "documentation/licenses/"
    names = {n.removeprefix(folder) for n in files if n.startswith(folder)} - {"license.txt"}
    assert names and all(f"  {name}\n" in text for name in names)


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_an_fmu_with_python_lists_what_has_to_be_installed(kind: str, version: int, archives: Any) -> None:
    text = archives(kind, version).get("documentation/externalDependencies.txt", b"").decode()
    assert ("Python 3.11 or newer" in text and "numpy" in text) == (kind == "python")


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_the_icon_is_a_png_image(kind: str, version: int, archives: Any) -> None:
    data = archives(kind, version)["model.png" if version == 2 else "terminalsAndIcons/icon.png"]
    assert data == icon() and data.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", data[16:24]) == (SIZE, SIZE)
    start = data.index(b"IDAT") + 4
    pixels = zlib.decompress(data[start : start + struct.unpack(">I", data[start - 8 : start - 4])[0]])
    assert len(pixels) == SIZE * (3 * SIZE + 1) and len(set(pixels)) > 5


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_descriptions_have_no_negative_zeros_and_no_tiny_bounds(
    kind: str, version: int, archives: Any
) -> None:
    text = archives(kind, version)["modelDescription.xml"].decode()
    assert 'start="0.0 0.0 0.3"' in text if version == 3 else 'start="0.3"' in text
    assert "-0.0" not in text and "e-308" not in text and "e-300" not in text
    assert 'name="rod.mass"' in text


@needs_compiler
def test_the_file_of_terminals_is_valid(archives: Any) -> None:
    etree = pytest.importorskip("lxml.etree")
    schema = Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3TerminalsAndIcons.xsd"
    data = archives("native", 3)["terminalsAndIcons/terminalsAndIcons.xml"]
    etree.XMLSchema(etree.parse(str(schema))).assertValid(etree.fromstring(data))


def test_only_an_actuator_is_a_terminal() -> None:
    """The measure in N m and that of the angle look alike, but nothing can be coupled to them."""
    sources = NativeSources(
        rod(), NativeChoices(version=3, selections={"outputs": ["push", "late", "hinge.angle"]})
    )
    root = ElementTree.fromstring(sources.terminals)
    terminals = {
        terminal.get("name"): {member.get("variableName") for member in terminal}
        for terminal in root.iter("Terminal")
    }
    assert terminals == {"motor": {"motor.effort", "hinge.angle"}}


def test_units_and_nominals_follow_the_kind_of_joint() -> None:
    model = rod()
    stone = model.body("stone", mass=1.0, inertia=(1, 1, 1))
    model.joint("free", child=stone, name="flight")
    variables = select_variables(model.build(), all=True)
    nominals = {v.name: v.nominal for v in variables}
    # those of a free joint are a quaternion, then a position
    assert [nominals[f"flight.q[{i}]"] for i in (1, 4, 5, 7)] == [1.0, 1.0, None, None]
    assert (nominals["hinge.angle"], nominals["hinge.rate"]) == (1.0, None)
    units = {v.name: v.unit for v in variables}
    expected = {"stop.lower": "rad", "stop.stiffness": "N.m/rad", "stop.dissipation": "s/rad"}
    assert {name: units[name] for name in expected} == expected


def test_sampled_outputs_are_discrete() -> None:
    model = cosim.Model("house")
    model.add(Thermostat, "t")
    model.add(Ball, "ball")
    model.add(Oscillator, "osc")
    model.measure("signals.limiter", "cut", source="t.heat", lower=-5.0, upper=5.0)
    model.measure("measures.delay", "late", source="t.heat", delay=0.1)
    variabilities = {v.name: v.variability for v in select_variables(model.build(), all=True)}
    discrete = {"t.heat", "t.sample", "cut", "ball.bounces", "ball.samples"}
    continuous = {"t.seen", "late", "osc.position", "ball.top"}
    assert {n for n in discrete | continuous if variabilities[n] == "discrete"} == discrete
