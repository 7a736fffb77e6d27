"""SSPs that deviate from the standard are written as its schemas require."""

from collections.abc import Callable
from pathlib import Path

from lxml import etree
from ssp_files import bindings, check_valid, component, connectors, pack, ssd, system, wire
from written_ssps import compare_runs

from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]


def test_deviations_that_the_reader_accepts_are_corrected(tmp_path: Path, make_fmu: MakeFmu) -> None:
    step_hint = (
        '<ssd:Annotations><ssc:Annotation type="com.opensimulationplatform"><osp:StepSizeHint value="0.1"/>'
        "</ssc:Annotation></ssd:Annotations>"
    )
    old_connectors = (
        '<ssd:Connectors><ssd:Connector name="y" kind="output" type="Real" colour="red"/></ssd:Connectors>'
    )
    binding = bindings(("bias", 3.0))
    text = ssd(
        "<ssd:Units/>"
        + system(
            component("a", inner=binding + step_hint + binding + old_connectors) + component("b"),
            wire("a.y", "b.u"),
        )
        + "<!-- last -->"
    ).replace('version="1.0" name="test"', 'version="Draft" name="test"')
    text = text.replace("<ssd:Connections>", "<ssd:Connections/><ssd:Connections>")
    files = {"SystemStructure.ssd": text, "resources/gain.fmu": make_fmu("gain")}
    loop = CoSimulation.from_ssp(pack(tmp_path / "first.ssp", files), step=0.1)
    path = loop.to_ssp(tmp_path / "second.ssp", until=0.3)
    document = check_valid(path)["SystemStructure.ssd"].decode()
    assert 'colour="red"' in document and "<!-- last -->" in document
    assert any("written otherwise" in f.text for f in loop.findings)
    copy = CoSimulation.from_ssp(path)
    assert [f.text for f in copy.findings] == []
    compare_runs(loop, copy, 0.3)


def test_elements_of_version_2_make_the_document_version_2(tmp_path: Path, make_fmu: MakeFmu) -> None:
    local = (
        '<ssd:Connectors><ssd:Connector name="y" kind="local"><ssc:Float64/></ssd:Connector></ssd:Connectors>'
    )
    files = {
        "SystemStructure.ssd": ssd(system(component("a", inner=local))),
        "resources/gain.fmu": make_fmu("gain"),
    }
    path = CoSimulation.from_ssp(pack(tmp_path / "1.ssp", files)).to_ssp(tmp_path / "2.ssp")
    assert etree.fromstring(check_valid(path)["SystemStructure.ssd"]).get("version") == "2.0"


def test_misplaced_elements_and_attributes_are_moved_into_annotations(
    tmp_path: Path, make_fmu: MakeFmu
) -> None:
    geometry = "<ssd:ElementGeometry x1='1' y1='1' x2='2' y2='2'/>"
    inner = connectors(u="input").replace("</ssd:Connectors>", f"{geometry}</ssd:Connectors>")
    text = ssd(system(component("a", inner=inner), f"{wire('a.y', 'a.u')}{geometry}")).replace(
        "<ssd:Elements>", '<ssd:Elements colour="red">'
    )
    files = {"SystemStructure.ssd": text, "resources/gain.fmu": make_fmu("gain")}
    path = CoSimulation.from_ssp(pack(tmp_path / "1.ssp", files)).to_ssp(tmp_path / "2.ssp")
    document = check_valid(path)["SystemStructure.ssd"].decode()
    assert document.count("ElementGeometry") == 2 and 'colour="red"' in document


def test_namespaces_of_drafts_are_written_as_those_of_the_standard(tmp_path: Path, make_fmu: MakeFmu) -> None:
    values = (
        '<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/ParameterValues" version="1.0" name="v">\n'
        '<ssv:Parameters><ssv:Parameter name="bias"><ssv:Real value="3"/></ssv:Parameter></ssv:Parameters>'
        "</ssv:ParameterSet>"
    )
    binding = '<ssd:ParameterBindings><ssd:ParameterBinding source="v.ssv"/></ssd:ParameterBindings>'
    # a namespace of another standard stays
    traceability = '<t:G xmlns:t="http://ssp-standard.org/SSPTraceability1/SSPTraceabilityCommon"/>'
    annotation = (
        f'<ssd:Annotations><ssc:Annotation type="x">{traceability}</ssc:Annotation></ssd:Annotations>'
    )
    text = ssd(system(component("a", "g.fmu", inner=binding + annotation)))
    files = {"SystemStructure.ssd": text, "v.ssv": values, "g.fmu": make_fmu("gain")}
    loop = CoSimulation.from_ssp(pack(tmp_path / "1.ssp", files))
    finding = "v.ssv:1: the namespace http://ssp-standard.org/SSP1/ParameterValues is not one of the standard"
    assert [str(f).startswith(finding) for f in loop.findings[:1]] == [True]
    path = loop.to_ssp(tmp_path / "2.ssp")
    documents = check_valid(path)
    assert documents["SystemStructure.ssd"].decode() == text
    assert b'<ssv:Real value="3"/>' in documents["v.ssv"]
    assert CoSimulation.from_ssp(path).start_values == {"a": {"bias": 3.0}}


def test_an_empty_source_is_written_as_a_missing_one(tmp_path: Path) -> None:
    """Two tools write it for a component without an implementation."""
    text = ssd(system('<ssd:Component name="a" source=""/>'))
    loop = CoSimulation.from_ssp(pack(tmp_path / "1.ssp", {"SystemStructure.ssd": text}))
    assert any("SystemStructure.ssd:3: has an empty" in str(finding) for finding in loop.findings)
    document = check_valid(loop.to_ssp(tmp_path / "2.ssp"))["SystemStructure.ssd"].decode()
    assert 'version="2.0"' in document and "source=" not in document
