"""SSPs of both versions as co-simulations."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from box3_fmu import make_box3
from ssp_files import (
    DECLARED,
    bindings,
    component,
    connectors,
    pack,
    parameter_set,
    ssd,
    system,
    wire,
)

import cosim
from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]
UNITS = (
    "<ssd:Units>"
    '<ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>'
    '<ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>'
    '<ssc:Unit name="K"><ssc:BaseUnit K="1"/></ssc:Unit>'
    '<ssc:Unit name="degC"><ssc:BaseUnit K="1" offset="273.15"/></ssc:Unit>'
    '<ssc:Unit name="s"><ssc:BaseUnit s="1"/></ssc:Unit></ssd:Units>'
)
EXPERIMENT = '<ssd:DefaultExperiment startTime="0" stopTime="0.3"/>'


@pytest.fixture
def gain_ssp(tmp_path: Path, make_fmu: MakeFmu) -> Callable[..., Path]:
    """Make an SSP around ``resources/gain.fmu``."""

    def make(text: str, **files: str | Path) -> Path:
        fmu = make_fmu("gain")
        named = {name.replace("__", "."): contents for name, contents in files.items()}
        return pack(tmp_path / "test.ssp", {"SystemStructure.ssd": text, "resources/gain.fmu": fmu, **named})

    return make


def last(path: Path, signal: str, **options: Any) -> float:
    loop = CoSimulation.from_ssp(path, step=0.1, **options)
    return float(loop.simulate()[signal][-1])


def test_runs_what_it_says(gain_ssp: Callable[..., Path]) -> None:
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


def test_folders_and_descriptions_run_as_archives_do(tmp_path: Path, make_fmu: MakeFmu) -> None:
    text = ssd(system(component("a", inner=connectors(u="input") + bindings(("bias", 3.0)))), EXPERIMENT)
    (tmp_path / "resources").mkdir()
    make_fmu("gain").rename(tmp_path / "resources" / "gain.fmu")
    (tmp_path / "SystemStructure.ssd").write_text(text, "utf-8")
    assert last(tmp_path, "a.y") == last(tmp_path / "SystemStructure.ssd", "a.y") == 3.0


def test_values_pass_through_nested_systems(gain_ssp: Callable[..., Path]) -> None:
    deep = system(
        component("g"),
        wire("in", "g.u") + wire("g.y", "out"),
        connectors(**{"in": "input", "out": "output"}),
        "deep",
    )
    middle = system(
        deep,
        wire("in", "deep.in", '<ssc:LinearTransformation factor="2" offset="1"/>') + wire("deep.out", "out"),
        connectors(**{"in": "input", "out": "output"}),
        "middle",
    )
    source = component("s", inner=connectors(y="output") + bindings(("bias", 10.0)))
    path = gain_ssp(
        ssd(
            system(
                source + middle + component("sink"),
                wire("s.y", "middle.in", '<ssc:LinearTransformation factor="-1"/>')
                + wire("middle.out", "sink.u"),
            ),
            EXPERIMENT,
        )
    )
    assert last(path, "middle/deep/g.u") == 2.0 * -10.0 + 1.0
    assert last(path, "sink.y") == -19.0


def test_units_are_converted_before_the_transformation(gain_ssp: Callable[..., Path]) -> None:
    def value(more: str, inner: str = "") -> float:
        parts = component("a", inner=connectors(y="output degC") + bindings(("bias", 20.0)))
        parts += component("b", inner=connectors(u="input K"))
        return last(gain_ssp(ssd(system(parts, wire("a.y", "b.u", inner, more)), UNITS + EXPERIMENT)), "b.u")

    linear = '<ssc:LinearTransformation factor="2" offset="5"/>'
    assert value("") == pytest.approx(293.15)
    assert value("", linear) == pytest.approx(2.0 * 293.15 + 5.0)
    assert value('suppressUnitConversion="true"', linear) == 45.0


def test_units_that_do_not_go_together_are_refused_with_the_line(gain_ssp: Callable[..., Path]) -> None:
    parts = component("a", inner=connectors(y="output m")) + component("b", inner=connectors(u="input s"))
    path = gain_ssp(ssd(system(parts, wire("a.y", "b.u")), UNITS))
    with pytest.raises(cosim.ModelError, match=r"SystemStructure.ssd:\d+: 'm'.*'s'.*measure the same"):
        CoSimulation.from_ssp(path)


def test_later_and_outer_bindings_count_more(gain_ssp: Callable[..., Path]) -> None:
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


def test_mappings_rename_and_transform_and_pass_nothing_else(gain_ssp: Callable[..., Path]) -> None:
    mapping = (
        f'<ssm:ParameterMapping {DECLARED} version="1.0"><ssm:MappingEntry source="k" target="a.gain">'
        '<ssc:LinearTransformation factor="4" offset="5"/></ssm:MappingEntry></ssm:ParameterMapping>'
    )
    for more in (
        f"<ssd:ParameterMapping>{mapping}</ssd:ParameterMapping>",
        "<ssd:ParameterMapping source='m.ssm'/>",
    ):
        before = bindings(("k", 2.0), ("a.bias", 3.0), more=more)
        loop = CoSimulation.from_ssp(gain_ssp(ssd(system(component("a"), before=before)), m__ssm=mapping))
        assert loop.start_values["a"] == {"gain": 13.0}


def test_values_have_units(gain_ssp: Callable[..., Path]) -> None:
    units = UNITS.replace("ssd:Units", "ssv:Units")
    value = '<ssv:Real value="250" unit="mm"/>'
    inner = connectors(u="input", bias="parameter m") + bindings(("bias", value), units=units)
    loop = CoSimulation.from_ssp(gain_ssp(ssd(system(component("a", inner=inner)), UNITS)))
    assert loop.start_values["a"] == {"bias": 0.25}


def test_a_value_of_a_system_reaches_all_that_its_connector_leads_to(gain_ssp: Callable[..., Path]) -> None:
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


def test_start_and_end_may_be_exchanged(gain_ssp: Callable[..., Path]) -> None:
    parts = component("a", inner=connectors(y="output") + bindings(("bias", 3.0))) + component("b")
    path = gain_ssp(ssd(system(parts, wire("b.u", "a.y")), EXPERIMENT))
    loop = CoSimulation.from_ssp(path, step=0.1)
    assert "flows from 'a.y' to 'b.u'" in loop.findings[0].text
    assert loop.simulate()["b.y"][-1] == 3.0


def test_mappings_of_booleans_integers_and_enumerations(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    box = make_box3(tmp_path, compiled)

    def typed(name: str, kind: str, type: str) -> str:
        return f'<ssd:Connector name="{name}" kind="{kind}"><ssc:{type}/></ssd:Connector>'

    def table(kind: str, **entries: str) -> str:
        inner = "".join(f'<ssc:MapEntry source="{k.strip("_")}" target="{v}"/>' for k, v in entries.items())
        return f"<ssc:{kind}MappingTransformation>{inner}</ssc:{kind}MappingTransformation>"

    kinds = {"flag": "Boolean", "byte": "Int8", "mode": 'Enumeration name="Mode"'}
    inner = "".join(
        typed(f"{n}_{w}", p, t) for n, t in kinds.items() for w, p in (("in", "input"), ("out", "output"))
    )
    inner = f"<ssd:Connectors>{inner}</ssd:Connectors>"
    first = bindings(
        ("byte_in", '<ssv:Int8 value="3"/>'), ("mode_in", '<ssv:Enumeration value="on" name="Mode"/>')
    ).replace('version="1.0"', 'version="2.0"')
    parts = component("a", "box.fmu", inner + first) + component("b", "box.fmu", inner)
    wires = (
        wire("a.flag_out", "b.flag_in", table("Boolean", true="false", false="true"))
        + wire("a.byte_out", "b.byte_in", table("Integer", _3="40"))
        + wire("a.mode_out", "b.mode_in", table("Enumeration", on="off", off="on"))
    )
    items = '<ssc:Item name="off" value="0"/><ssc:Item name="on" value="1"/>'
    tables = f'<ssd:Enumerations><ssc:Enumeration name="Mode">{items}</ssc:Enumeration></ssd:Enumerations>'
    path = pack(
        tmp_path / "t.ssp",
        {"SystemStructure.ssd": ssd(system(parts, wires), tables + EXPERIMENT, "2.0"), "box.fmu": box},
    )
    result = CoSimulation.from_ssp(path, step=0.1).simulate(record=["*"])
    source, target = (
        {n: result[f"{p}.{n}"][-1] for n in ("flag", "byte", "mode") for n in (f"{n}_in", f"{n}_out")}
        for p in "ab"
    )
    assert target["flag_in"] == 1.0 - source["flag_out"]
    assert target["byte_in"] == (40.0 if source["byte_out"] == 3.0 else source["byte_out"])
    assert target["mode_in"] == 1.0 - source["mode_out"]


def test_parts_of_arrays(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    box = make_box3(tmp_path, compiled)
    size = '<ssc:Dimension size="2"/>'
    kinds = {"matrix": "input", "doubled": "output"}
    typed = f"<ssc:Float64/>{size * 2}"
    made = (f'<ssd:Connector name="{n}" kind="{kind}">{typed}</ssd:Connector>' for n, kind in kinds.items())
    inner = f"<ssd:Connectors>{''.join(made)}</ssd:Connectors>"
    values = f'<ssv:Float64 value="1 2 3 4"/>{size * 2}'
    parts = component("a", "box.fmu", inner + bindings(("matrix", values)).replace('"1.0"', '"2.0"'))
    parts += component("b", "box.fmu", inner) + component("c", "box.fmu", inner)
    wires = (
        wire("a.doubled", "b.matrix")
        + wire("a.doubled", "c.matrix", more='startIndices="2" endIndices="1"')
        + wire("a.doubled", "c.matrix", more='startIndices="1 2" endIndices="2 1"')
    )
    files = {"SystemStructure.ssd": ssd(system(parts, wires), EXPERIMENT, "2.0"), "box.fmu": box}
    loop = CoSimulation.from_ssp(pack(tmp_path / "t.ssp", files), step=0.1)
    result = loop.simulate(record=["*"])
    element = [f"[{i},{j}]" for i in (1, 2) for j in (1, 2)]
    assert [result[f"b.matrix{e}"][-1] for e in element] == [2.0, 4.0, 6.0, 8.0]
    assert [result[f"c.matrix{e}"][-1] for e in element] == [6.0, 8.0, 4.0, 0.0]


def test_signal_dictionaries_pass_values_on(gain_ssp: Callable[..., Path]) -> None:
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
    assert last(gain_ssp(ssd(top, EXPERIMENT)), "inner/b.y") == 5.0


def test_other_descriptions_and_packages_as_components(gain_ssp: Callable[..., Path], tmp_path: Path) -> None:
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
    assert last(path, "q/g.y") == 6.0


def test_a_system_of_the_same_document_twice(gain_ssp: Callable[..., Path]) -> None:
    part = system(component("g"), wire("in", "g.u"), connectors(**{"in": "input"}), "first").replace(
        "<ssd:System ", '<ssd:System id="one" '
    )
    again = component("second", "#one", connectors(**{"in": "input"}), 'type="application/x-ssp-definition"')
    path = gain_ssp(ssd(system(part + again, before=bindings(("second.in", 4.0))), EXPERIMENT))
    assert last(path, "second/g.y") == 4.0


def test_variants(gain_ssp: Callable[..., Path]) -> None:
    def text(value: float) -> str:
        return ssd(
            system(component("a", inner=connectors(u="input") + bindings(("bias", value)))), EXPERIMENT
        )

    path = gain_ssp(text(1.0), Loud__ssd=text(2.0))
    assert [last(path, "a.y", variant=name) for name in (None, "Loud", "Loud.ssd")] == [1.0, 2.0, 2.0]
    with pytest.raises(cosim.ModelError, match="variant 'x'..*Loud.ssd, SystemStructure.ssd"):
        CoSimulation.from_ssp(path, "x")


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


def test_steps_of_vendors(gain_ssp: Callable[..., Path]) -> None:
    hint = (
        '<ssd:Annotations><ssc:Annotation type="com.opensimulationplatform"><osp:StepSizeHint value="0.06"/>'
        "</ssc:Annotation></ssd:Annotations>"
    )
    loop = CoSimulation.from_ssp(gain_ssp(ssd(system(component("a", inner=hint)), OSP)))
    assert (loop.step, loop.step_multiple, loop.until) == (0.02, {"a": 3}, 1.0)
    assert str(loop.findings[0]).startswith(
        "SystemStructure.ssd:4: the prefix osp: is not declared; taken for"
    )
    part = system(component("b"), name="s", after=OMS.replace("0.02", "0.5"))
    loop = CoSimulation.from_ssp(gain_ssp(ssd(system(component("a") + part, after=OMS), EXPERIMENT)))
    assert (loop.step, loop.tolerance) == (0.02, 1e-5)


@pytest.mark.parametrize(
    ("text", "said"),
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
def test_faults_are_told_with_their_place(gain_ssp: Callable[..., Path], text: str, said: str) -> None:
    with pytest.raises(cosim.ModelError) as failure:
        CoSimulation.from_ssp(gain_ssp(ssd(text)))
    assert said in str(failure.value)
    assert str(failure.value).startswith("SystemStructure.ssd:")


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("files", "said"),
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
def test_hostile_packages(tmp_path: Path, files: dict[str, str | bytes], said: str) -> None:
    with pytest.raises(cosim.ModelError) as failure:
        CoSimulation.from_ssp(pack(tmp_path / "bad.ssp", files))
    assert said in str(failure.value)


def test_no_archive(tmp_path: Path) -> None:
    (tmp_path / "x.ssp").write_bytes(b"no zip")
    for name, said in (("x.ssp", "is not an SSP: not a ZIP archive"), ("y.ssp", "no such file")):
        with pytest.raises(cosim.ModelError, match=said):
            CoSimulation.from_ssp(tmp_path / name)


def test_links_do_not_leave_the_folder(tmp_path: Path, make_fmu: MakeFmu) -> None:
    fmu = make_fmu("gain")
    folder = tmp_path / "system"
    folder.mkdir()
    (folder / "a.fmu").symlink_to(fmu)
    (folder / "SystemStructure.ssd").write_text(ssd(system(component("a", "a.fmu"))), "utf-8")
    with pytest.raises(cosim.ModelError, match="package: refused"):
        CoSimulation.from_ssp(folder)


def test_the_command_runs_it_and_tells_its_findings(
    gain_ssp: Callable[..., Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from cosim.cli import main

    path = gain_ssp(ssd(system(component("a", inner=bindings(("bias", 3.0)))), EXPERIMENT))
    target = tmp_path / "out.csv"
    assert main(["cosimulate", str(path), "--step", "0.1", "-o", str(target)]) == 0
    assert target.read_text("utf-8").splitlines()[-1].endswith(",3.0")
    assert main(["cosimulate", str(path), "--step", "0 s", "-q"]) == 2
    assert main(["cosimulate", str(path), "--variant", "x", "-q"]) == 2
    assert "no variant 'x'" in capsys.readouterr().err
    (tmp_path / "s.toml").write_text("", "utf-8")
    assert main(["cosimulate", str(tmp_path / "s.toml"), "--step", "1 s"]) == 2
    assert "--step: for an SSP" in capsys.readouterr().err


def test_info_tells_what_is_in_it(gain_ssp: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    from cosim.cli import main

    inner = system(component("b"), wire("in", "b.u"), connectors(**{"in": "input"}), "s")
    text = ssd(system(component("a") + inner, wire("s.in", "a.y")), OSP)
    assert main(["info", str(gain_ssp(text, Loud__ssd=ssd(system())))]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "test.ssp   SSP 1.0, top, 2 components",
        "  variants   Loud.ssd",
        "  run        stop 1 s, step 0.02 s",
        "",
        "elements",
        "  a   resources/gain.fmu, 3 connectors",
        "  s   system, 1 connector",
        "    b   resources/gain.fmu, 3 connectors",
        "",
        "connections",
        "  s.in → s.b.u",
        "  a.y → s.in",
        "",
        "noticed",
        "  SystemStructure.ssd:17: the prefix osp: is not declared; taken for "
        "http://opensimulationplatform.com/SSP/OSPAnnotations",
        "  SystemStructure.ssd:15: start and end are exchanged: the value flows from 'a.y' to 's.in'",
    ]
