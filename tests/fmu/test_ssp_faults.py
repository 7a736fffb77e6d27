"""Faulty SSPs are refused with file and line; hostile ones read nothing outside of their package."""

from collections.abc import Callable
from pathlib import Path

import pytest
from gain_ssp import gain_ssp
from ssp_files import bindings, component, connectors, pack, ssd, system, wire

import cosim
from cosim_fmu import CoSimulation

assert gain_ssp  # a fixture
MakeFmu = Callable[..., Path]
ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (system(component("a"), wire("a.y", "c.u")), "no element of this system 'c'. There are: a."),
        (system(component("a") + component("b"), wire("a.y", "b.y")), "'a.y' and 'b.y' both give a value"),
        (system(component("a"), wire("w", "a.u"), connectors(v="input")), "no connector of this system 'w'"),
        (system(component("a", "../gain.fmu")), "'../gain.fmu' lies outside of the package: refused"),
        (system(component("a", "https://x/gain.fmu")), "nothing is loaded from elsewhere"),
        (system(component("a", "file:///etc/passwd")), "nothing is loaded from elsewhere"),
        (system(component("a", "none.fmu")), "none.fmu: there is no such file in the package"),
        (
            system(component("a", more='implementation="ModelExchange"')),
            "offers CoSimulation, but ModelExchange",
        ),
        (
            system(component("a", inner=bindings(("gain", "<ssv:Real value='x'/>")))),
            "value is 'x', which is not of type Real",
        ),
        (system(component("a", inner=bindings(("gain", '<ssv:String value="x"/>')))), "gain is real"),
        (system(component("a") + component("a")), "there are two elements 'a' in this system"),
        (
            system(component("a"), wire("a.y", "a.u", '<ssc:LinearTransformation factor="nan"/>')),
            "finite number",
        ),
        (
            system(component("a") + component("b"), wire("a.y", "b.u") + wire("b.y", "b.u")),
            "'b.u' has a source already, in SystemStructure.ssd:",
        ),
        (
            system(component("a", "SystemStructure.ssd", more='type="application/x-ssp-definition"')),
            "nested more than",
        ),
        (
            system(component("a", "", more='type="application/avl-mcx-constant"')),
            "components of type application/avl-mcx-constant cannot be run: needs an FMU, an SSD or an SSP",
        ),
    ],
)
def test_faults_are_named_with_file_and_line(gain_ssp: Callable[..., Path], text: str, message: str) -> None:
    with pytest.raises(cosim.ModelError) as failure:
        CoSimulation.from_ssp(gain_ssp(ssd(text)))
    assert message in str(failure.value)
    assert str(failure.value).startswith("SystemStructure.ssd:")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"SystemStructure.ssd": "<a"}, "SystemStructure.ssd:1: is not well-formed XML"),
        ({"SystemStructure.ssd": f"{ENTITIES}<x>&b;</x>"}, "declares a document type"),
        ({"SystemStructure.ssd": '<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>'}, "declares a document type"),
        ({"SystemStructure.ssd": "<x/>"}, "its root is <x>, not <SystemStructureDescription>"),
        ({"../SystemStructure.ssd": "<x/>"}, "would leave the folder"),
        ({"a.txt": ""}, "has no SSD file: needs SystemStructure.ssd"),
        ({"a.ssd": "", "b.ssd": ""}, "choose one of a.ssd, b.ssd"),
        ({"SystemStructure.ssd": b"\xff\xfe\x00"}, "is not well-formed XML"),
        ({"SystemStructure.ssd": "<a>" * 100_000}, "is not well-formed XML"),
    ],
)
def test_damaged_and_hostile_packages_are_refused(
    tmp_path: Path, files: dict[str, str | bytes], message: str
) -> None:
    with pytest.raises(cosim.ModelError) as failure:
        CoSimulation.from_ssp(pack(tmp_path / "bad.ssp", files))
    assert message in str(failure.value)


def test_files_that_are_no_archives_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.ssp").write_bytes(b"no zip")
    for name, message in (("x.ssp", "is not an SSP: not a ZIP archive"), ("y.ssp", "no such file")):
        with pytest.raises(cosim.ModelError, match=message):
            CoSimulation.from_ssp(tmp_path / name)


def test_symbolic_links_out_of_the_folder_are_refused(tmp_path: Path, make_fmu: MakeFmu) -> None:
    fmu = make_fmu("gain")
    folder = tmp_path / "system"
    folder.mkdir()
    (folder / "a.fmu").symlink_to(fmu)
    (folder / "SystemStructure.ssd").write_text(ssd(system(component("a", "a.fmu"))), "utf-8")
    with pytest.raises(cosim.ModelError, match="package: refused"):
        CoSimulation.from_ssp(folder)
