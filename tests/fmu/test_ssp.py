"""SSPs of both versions are read: connections, values, units, nested systems, variants, vendors' settings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gain_ssp import EXPERIMENT, gain_ssp
from ssp_files import (
    DECLARED,
    bindings,
    component,
    connectors,
    parameter_set,
    ssd,
    system,
    wire,
)

import cosim
from cosim_fmu import CoSimulation

assert gain_ssp  # a fixture
MakeFmu = Callable[..., Path]
UNITS = (
    "<ssd:Units>"
    '<ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>'
    '<ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>'
    '<ssc:Unit name="K"><ssc:BaseUnit K="1"/></ssc:Unit>'
    '<ssc:Unit name="degC"><ssc:BaseUnit K="1" offset="273.15"/></ssc:Unit>'
    '<ssc:Unit name="s"><ssc:BaseUnit s="1"/></ssc:Unit></ssd:Units>'
)
OSP = (
    '<ssd:DefaultExperiment stopTime="1"><ssd:Annotations><ssc:Annotation type="com.opensimulationplatform">'
    '<osp:Algorithm><osp:FixedStepAlgorithm baseStepSize="0.02"/></osp:Algorithm></ssc:Annotation>'
    "</ssd:Annotations></ssd:DefaultExperiment>"
)
OMS = (
    '<ssd:Annotations><ssc:Annotation type="org.openmodelica"><oms:SimulationInformation xmlns:oms="o">'
    '<oms:FixedStepMaster description="oms-ma" stepSize="0.02" relativeTolerance="1e-5"/>'
    "</oms:SimulationInformation></ssc:Annotation></ssd:Annotations>"
)


def last_value(path: Path, signal: str, **options: Any) -> float:
    """Of a signal at the end of the run of an SSP."""
    loop = CoSimulation.from_ssp(path, step=0.1, **options)
    return float(loop.simulate()[signal][-1])


def test_an_ssp_is_run_with_its_end_and_a_default_step(gain_ssp: Callable[..., Path]) -> None:
    parts = component("a", inner=connectors(u="input", y="output") + bindings(("gain", 2.0), ("bias", 3.0)))
    path = gain_ssp(ssd(system(parts + component("b"), wire("a.y", "b.u")), EXPERIMENT))
    loop = CoSimulation.from_ssp(path)
    assert (loop.until, loop.step) == (0.3, pytest.approx(3e-4))
    assert [str(finding) for finding in loop.findings] == [
        f"{path}: gives no communication step; values are exchanged every 0.0003 s: give a step"
    ]
    result = loop.simulate()
    assert result["b.y"][-1] == 3.0
    assert result.time[-1] == 0.3


def test_folders_and_ssd_files_are_run_like_archives(tmp_path: Path, make_fmu: MakeFmu) -> None:
    text = ssd(system(component("a", inner=connectors(u="input") + bindings(("bias", 3.0)))), EXPERIMENT)
    (tmp_path / "resources").mkdir()
    make_fmu("gain").rename(tmp_path / "resources" / "gain.fmu")
    (tmp_path / "SystemStructure.ssd").write_text(text, "utf-8")
    assert last_value(tmp_path, "a.y") == last_value(tmp_path / "SystemStructure.ssd", "a.y") == 3.0


def test_values_pass_through_nested_systems(gain_ssp: Callable[..., Path]) -> None:
    inner_system = system(
        component("g"),
        wire("in", "g.u") + wire("g.y", "out"),
        connectors(**{"in": "input", "out": "output"}),
        "deep",
    )
    middle_system = system(
        inner_system,
        wire("in", "deep.in", '<ssc:LinearTransformation factor="2" offset="1"/>') + wire("deep.out", "out"),
        connectors(**{"in": "input", "out": "output"}),
        "middle",
    )
    source = component("s", inner=connectors(y="output") + bindings(("bias", 10.0)))
    path = gain_ssp(
        ssd(
            system(
                source + middle_system + component("sink"),
                wire("s.y", "middle.in", '<ssc:LinearTransformation factor="-1"/>')
                + wire("middle.out", "sink.u"),
            ),
            EXPERIMENT,
        )
    )
    assert last_value(path, "middle/deep/g.u") == 2.0 * -10.0 + 1.0
    assert last_value(path, "sink.y") == -19.0


def test_units_are_converted_before_the_transformation(gain_ssp: Callable[..., Path]) -> None:
    def input_of_b(attributes: str, transformation: str = "") -> float:
        parts = component("a", inner=connectors(y="output degC") + bindings(("bias", 20.0)))
        parts += component("b", inner=connectors(u="input K"))
        return last_value(
            gain_ssp(ssd(system(parts, wire("a.y", "b.u", transformation, attributes)), UNITS + EXPERIMENT)),
            "b.u",
        )

    linear = '<ssc:LinearTransformation factor="2" offset="5"/>'
    assert input_of_b("") == pytest.approx(293.15)
    assert input_of_b("", linear) == pytest.approx(2.0 * 293.15 + 5.0)
    assert input_of_b('suppressUnitConversion="true"', linear) == 45.0


def test_connections_of_different_dimensions_are_refused_with_the_line(gain_ssp: Callable[..., Path]) -> None:
    parts = component("a", inner=connectors(y="output m")) + component("b", inner=connectors(u="input s"))
    path = gain_ssp(ssd(system(parts, wire("a.y", "b.u")), UNITS))
    with pytest.raises(cosim.ModelError, match=r"SystemStructure.ssd:\d+: 'm'.*'s'.*measure the same"):
        CoSimulation.from_ssp(path)


def test_later_and_outer_bindings_take_precedence(gain_ssp: Callable[..., Path]) -> None:
    inner = connectors(u="input") + bindings(("gain", 2.0), ("bias", 1.0))
    top = bindings(("bias", 7.0), ("bias", 8.0), prefix="s.a.").replace(
        "</ssd:ParameterBindings>",
        "<ssd:ParameterBinding source='resources/more.ssv'/></ssd:ParameterBindings>",
    )
    nested = system(component("a", inner=inner), name="s", before=bindings(("a.gain", 5.0)))
    files = {"resources/more__ssv": parameter_set(("s.a.bias", 9.0), ("nothing", 1.0), declared=DECLARED)}
    path = gain_ssp(ssd(system(nested, before=top), EXPERIMENT), **files)
    loop = CoSimulation.from_ssp(path, step=0.1)
    assert loop.start_values["s/a"] == {"gain": 5.0, "bias": 9.0}
    assert any("'nothing' in the system" in f.text for f in loop.findings)
    assert CoSimulation.from_ssp(path, step=0.1, starts={"s/a.gain": 6.0}).start_values["s/a"]["gain"] == 6.0


def test_parameter_mappings_rename_transform_and_drop_other_parameters(gain_ssp: Callable[..., Path]) -> None:
    mapping = (
        f'<ssm:ParameterMapping {DECLARED} version="1.0"><ssm:MappingEntry source="k" target="a.gain">'
        '<ssc:LinearTransformation factor="4" offset="5"/></ssm:MappingEntry></ssm:ParameterMapping>'
    )
    for mapping_element in (
        f"<ssd:ParameterMapping>{mapping}</ssd:ParameterMapping>",
        "<ssd:ParameterMapping source='m.ssm'/>",
    ):
        before = bindings(("k", 2.0), ("a.bias", 3.0), more=mapping_element)
        loop = CoSimulation.from_ssp(gain_ssp(ssd(system(component("a"), before=before)), m__ssm=mapping))
        assert loop.start_values["a"] == {"gain": 13.0}


def test_units_of_parameter_values_are_converted(gain_ssp: Callable[..., Path]) -> None:
    units = UNITS.replace("ssd:Units", "ssv:Units")
    value = '<ssv:Real value="250" unit="mm"/>'
    inner = connectors(u="input", bias="parameter m") + bindings(("bias", value), units=units)
    loop = CoSimulation.from_ssp(gain_ssp(ssd(system(component("a", inner=inner)), UNITS)))
    assert loop.start_values["a"] == {"bias": 0.25}


def test_a_value_of_a_system_reaches_all_connected_components(gain_ssp: Callable[..., Path]) -> None:
    before = connectors(k="parameter", w="input") + bindings(("k", 4.0), ("w", 2.0))
    wires = (
        wire("k", "a.gain")
        + wire("k", "b.gain", '<ssc:LinearTransformation factor="10"/>')
        + wire("w", "a.u")
    )
    path = gain_ssp(ssd(system(component("a") + component("b"), wires, before), EXPERIMENT))
    loop = CoSimulation.from_ssp(path, step=0.1)
    assert loop.start_values == {"a": {"gain": 4.0, "u": 2.0}, "b": {"gain": 40.0}}
    assert loop.simulate()["a.y"][-1] == 8.0


def test_start_and_end_of_a_connection_may_be_exchanged(gain_ssp: Callable[..., Path]) -> None:
    parts = component("a", inner=connectors(y="output") + bindings(("bias", 3.0))) + component("b")
    path = gain_ssp(ssd(system(parts, wire("b.u", "a.y")), EXPERIMENT))
    loop = CoSimulation.from_ssp(path, step=0.1)
    assert "flows from 'a.y' to 'b.u'" in loop.findings[0].text
    assert loop.simulate()["b.y"][-1] == 3.0


def test_signal_dictionaries_connect_systems(gain_ssp: Callable[..., Path]) -> None:
    reference = '<ssd:SignalDictionaryReference name="{}" dictionary="bus">{}</ssd:SignalDictionaryReference>'
    inner = system(
        component("b") + reference.format("here", connectors(x="inout")), wire("here.x", "b.u"), name="inner"
    )
    source = component("a", inner=connectors(y="output") + bindings(("bias", 5.0)))
    entry = '<ssb:DictionaryEntry name="x"><ssc:Real/></ssb:DictionaryEntry>'
    bus = (
        '<ssd:SignalDictionaries><ssd:SignalDictionary name="bus"><ssb:SignalDictionary version="1.0">'
        f"{entry}</ssb:SignalDictionary></ssd:SignalDictionary></ssd:SignalDictionaries>"
    )
    top = system(
        source + reference.format("there", connectors(x="inout")) + inner, wire("a.y", "there.x"), after=bus
    )
    assert last_value(gain_ssp(ssd(top, EXPERIMENT)), "inner/b.y") == 5.0


def test_ssd_files_and_ssp_packages_as_components(gain_ssp: Callable[..., Path], tmp_path: Path) -> None:
    part = system(
        component("g", inner=connectors(u="input", y="output") + bindings(("gain", 2.0))),
        wire("in", "g.u") + wire("g.y", "out"),
        connectors(**{"in": "input", "out": "output"}),
    )
    one = gain_ssp(ssd(part)).rename(tmp_path / "part.ssp")
    outside = connectors(**{"in": "input", "out": "output"})
    bound = bindings(("g.gain", 3.0))
    parts = component("s", inner=connectors(y="output") + bindings(("bias", 1.0)))
    parts += component("p", "part.ssp", outside, 'type="application/x-ssp-package"')
    parts += component("q", "other.ssd", outside + bound, 'type="application/x-ssp-definition"')
    wires = wire("s.y", "p.in") + wire("p.out", "q.in")
    path = gain_ssp(ssd(system(parts, wires), EXPERIMENT), part__ssp=one, other__ssd=ssd(part))
    assert last_value(path, "q/g.y") == 6.0


def test_a_system_of_the_document_as_a_component(gain_ssp: Callable[..., Path]) -> None:
    part = system(component("g"), wire("in", "g.u"), connectors(**{"in": "input"}), "first").replace(
        "<ssd:System ", '<ssd:System id="one" '
    )
    second = component("second", "#one", connectors(**{"in": "input"}), 'type="application/x-ssp-definition"')
    path = gain_ssp(ssd(system(part + second, before=bindings(("second.in", 4.0))), EXPERIMENT))
    assert last_value(path, "second/g.y") == 4.0


def test_variants_of_an_ssp(gain_ssp: Callable[..., Path]) -> None:
    def text(value: float) -> str:
        return ssd(
            system(component("a", inner=connectors(u="input") + bindings(("bias", value)))), EXPERIMENT
        )

    path = gain_ssp(text(1.0), Loud__ssd=text(2.0))
    assert [last_value(path, "a.y", variant=name) for name in (None, "Loud", "Loud.ssd")] == [1.0, 2.0, 2.0]
    with pytest.raises(cosim.ModelError, match="variant 'x'..*Loud.ssd, SystemStructure.ssd"):
        CoSimulation.from_ssp(path, "x")


def test_step_sizes_in_annotations_of_vendors(gain_ssp: Callable[..., Path]) -> None:
    hint = (
        '<ssd:Annotations><ssc:Annotation type="com.opensimulationplatform"><osp:StepSizeHint value="0.06"/>'
        "</ssc:Annotation></ssd:Annotations>"
    )
    loop = CoSimulation.from_ssp(gain_ssp(ssd(system(component("a", inner=hint)), OSP)))
    assert (loop.step, loop.step_multiple, loop.until) == (0.02, {"a": 3}, 1.0)
    finding = "SystemStructure.ssd:4: the prefix osp: is not declared; taken for"
    assert str(loop.findings[0]).startswith(finding)

    # the annotation of the top system counts, not that of the inner one
    part = system(component("b"), name="s", after=OMS.replace("0.02", "0.5"))
    loop = CoSimulation.from_ssp(gain_ssp(ssd(system(component("a") + part, after=OMS), EXPERIMENT)))
    assert (loop.step, loop.tolerance) == (0.02, 1e-5)
