"""FMUs that promise little and behave badly: a right result, or one clear message and the results so far."""

import math
import os
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from model3_fmu import make_model3

import cosim
from cosim import kit
from cosim_fmi.binding.fmu_instance import StepAnswer
from cosim_fmi.binding.statuses import DISCARD
from cosim_fmu import CoSimulation, CoSimulationError
from cosim_master.participants.fmu_participant import FmuParticipant

Compiled = Callable[..., Path]
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
VARIABLES = """<ScalarVariable name="y" valueReference="0" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="u" valueReference="1" causality="input"><Real start="0"/></ScalarVariable>"""


@pytest.fixture
def make(tmp_path: Path, compiled: Compiled) -> Callable[..., Path]:
    """An FMU for FMI 2.0 of a C source and the inside of its model description."""

    def build(
        kind: str,
        variables: str = VARIABLES,
        *,
        head: str = HEAD,
        abilities: str = "",
        structure: str = "",
        encoding: str = "utf-8",
        name: str = "odd",
        more: Mapping[str, bytes] | None = None,
        library: bool = True,
    ) -> Path:
        from fmpy import platform, sharedLibraryExtension

        text = (
            f'{head}<fmiModelDescription fmiVersion="2.0" modelName="{kind}" guid="{{{kind}}}">'
            f'<CoSimulation modelIdentifier="{kind}" {abilities}/>'
            f"<ModelVariables>{variables}</ModelVariables><ModelStructure>{structure}</ModelStructure></fmiModelDescription>"
        )
        path = tmp_path / f"{name}.fmu"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", text.encode(encoding))
            if library:
                archive.write(compiled(kind), f"binaries/{platform}/{kind}{sharedLibraryExtension}")
            for member, content in (more or {}).items():
                archive.writestr(member, content)
        return path

    return build


def run(path: Path, until: float = 0.3, algorithm: str = "jacobi", **options: Any) -> Any:
    return CoSimulation({"m": path}, [], algorithm, 0.1, **options).simulate(until)


def test_needs_a_tool_declares_no_start_values_and_one_name_for_two(make: Any) -> None:
    variables = """<ScalarVariable name="y" valueReference="0" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="y again" valueReference="0"><Real/></ScalarVariable>
<ScalarVariable name="u" valueReference="1" causality="input"><Real/></ScalarVariable>
<ScalarVariable name="gain" valueReference="2" causality="parameter"><Real/></ScalarVariable>"""
    path = make("gain", variables, abilities='needsExecutionTool="true"')
    loop = CoSimulation({"m": path, "n": path}, [("m.y", "n.u")], "gauss_seidel", 0.1, starts={"m.u": 2.0})
    result = loop.simulate(0.2, record=["*"])
    assert result["m.y again"].tolist() == result["n.y"].tolist() == [2.0, 2.0, 2.0]


def test_no_variables_at_all(make: Any) -> None:
    result = run(make("gain", ""))
    assert result.time == pytest.approx([0.0, 0.1, 0.2, 0.3]) and not result.signals


@pytest.mark.thorough
def test_ten_thousand_variables(make: Any) -> None:
    variables = VARIABLES + "".join(
        f'<ScalarVariable name="x[{i}]" valueReference="0" causality="output"><Real/></ScalarVariable>'
        for i in range(10_000)
    )
    result = run(make("gain", variables), starts={"m.u": 3.0})
    assert len(result.signals) == 10_001
    assert set(map(float, result["m.x[9999]"])) == {3.0}


@pytest.mark.parametrize(
    "name", ["a b", "a.b.c[1,2].d", "der(größe)", "x[*]", "'quoted.name'", "a/b:c", "Ω→", "a&amp;b", " lead"]
)
def test_names_of_any_kind(make: Any, name: str) -> None:
    plain = name.replace("&amp;", "&")
    variables = f"""<ScalarVariable name="{name}" valueReference="0" causality="output"><Real/>
</ScalarVariable>
<ScalarVariable name="in {name}" valueReference="1" causality="input"><Real start="4"/></ScalarVariable>
<ScalarVariable name="gain" valueReference="2" causality="parameter"><Real start="1"/></ScalarVariable>"""
    path = make("gain", variables)
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
def test_encodings_of_the_model_description(make: Any, head: str, encoding: str) -> None:
    path = make("gain", VARIABLES.replace('"y"', '"Höhe"'), head=head, encoding=encoding)
    assert run(path, starts={"m.u": 1.0})["m.Höhe"].tolist() == [1.0] * 4


def test_resources_strings_that_are_null_memory_and_logs_of_no_encoding(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mit Leerzeichen ünd 100%"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    text = '<ScalarVariable name="s" valueReference="0" causality="output"><String/></ScalarVariable>'
    path = make("odd", VARIABLES + text, more={"resources/number": b"7"})
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.u": 0.5})
    seen = []
    result = loop.simulate(0.2, observe=lambda t, values: seen.append(loop.participants["m"].get(["s"])))  # type: ignore[func-returns-value]
    assert result["m.y"].tolist() == [0.0, 7.5, 7.5]
    assert seen == [[""]] * 3
    failing = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.u": 2.0})
    with pytest.raises(CoSimulationError, match="fmi2DoStep: failed with status error.*na.ve"):
        failing.simulate(0.2)


FAILING = """<ScalarVariable name="y" valueReference="0" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="fail_at" valueReference="1" causality="parameter"><Real start="0"/></ScalarVariable>
<ScalarVariable name="reached" valueReference="2" causality="parameter"><Real start="0"/></ScalarVariable>
<ScalarVariable name="size" valueReference="3" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="status" valueReference="0" causality="parameter" variability="fixed">
<Integer start="0"/></ScalarVariable>"""


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (2, r"the step from t = 0\.2 s by 0\.1 s was discarded"),
        (3, "failed with status error"),
        (4, "failed with status fatal"),
        (5, "returned pending, but asynchronous steps are not supported"),
        (9, "failed with status 9"),
        (-1, "failed with status -1"),
    ],
)
@pytest.mark.parametrize("record", [["m.y"], None, ["m.y", "m.status"]], ids=["compiled", "all", "python"])
def test_a_step_that_fails_names_the_participant_and_keeps_the_results(
    make: Any, status: int, said: str, record: Any
) -> None:
    starts = {"m.fail_at": 0.25, "m.status": status, "m.reached": 0.0}
    loop = CoSimulation({"m": make("failing", FAILING)}, [], "jacobi", 0.1, starts=starts)
    with pytest.raises(CoSimulationError, match=f"m: .*{said}.*pump ran dry at 0.200") as caught:
        loop.simulate(1.0, record=record)
    assert caught.value.result.time == pytest.approx([0.0, 0.1, 0.2])
    assert caught.value.result["m.y"] == pytest.approx([0.0, 0.1, 0.2])


@pytest.mark.by_turns
@pytest.mark.parametrize("status", ["Discard", "Error", "Fatal"])
@pytest.mark.parametrize("record", [["m.x"], None], ids=["compiled", "python"])
def test_steps_of_fmi_3_that_fail(tmp_path: Path, compiled: Compiled, status: str, record: Any) -> None:
    path = make_box3(tmp_path, compiled, f"FAIL_STATUS={status}")
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.fail_at": 0.25})
    with pytest.raises(CoSimulationError, match=f"fmi3DoStep: .*{status.lower()}.*ran dry"):
        loop.simulate(1.0, record=record)
    assert loop.result is not None and loop.result.time == pytest.approx([0.0, 0.1, 0.2])


# box3 refuses long steps beyond 0.25 s, but makes a share of them, from 0.2 s on.
PARTLY = "FAIL_STATUS=Discard", "FAIL_SIZE=0.06"


@pytest.mark.parametrize(
    ("share", "reached"),
    [
        *[(0.0, 0.25), (0.5, 0.5), (1.0, 0.75)],
        *[pytest.param(share, 0.25, id=f"{share} is no share") for share in (-1e-9, 1.0 + 1e-9, math.nan)],
    ],
)
def test_a_discarded_step_of_fmi_3_has_come_as_far_as_it_says(
    tmp_path: Path, compiled: Compiled, share: float, reached: float
) -> None:
    number = "(1e999-1e999)" if math.isnan(share) else f"({share!r})"
    part = FmuParticipant(make_box3(tmp_path, compiled, "FAIL_STATUS=Discard", f"REACHED={number}"))
    part.initialize(0.0, 1.0, {"fail_at": 0.25})
    part.exit_initialization()
    try:
        answer = part._instance.do_step(0.25, 0.5)
        assert answer == StepAnswer(reached, discarded=True)
        said = StepAnswer(0.25 + share * 0.5)  # as compiled code hands it on
        assert part._instance.after_step(DISCARD, 0.25, 0.5, said) == answer
    finally:
        part.close()


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("record", [["m.x"], None], ids=["compiled", "python"])
def test_a_run_goes_on_from_where_a_discarded_step_of_fmi_3_has_come(
    tmp_path: Path, compiled: Compiled, share: float, record: Any
) -> None:
    loop = CoSimulation(
        {"m": make_box3(tmp_path, compiled, *PARTLY, f"REACHED={share}")},
        [],
        "jacobi",
        0.1,
        starts={"m.fail_at": 0.25},
    )
    if share != 0.5:  # nowhere, or to an end at which a step is not to be discarded
        with pytest.raises(CoSimulationError, match=r"the step from t = 0\.2 s by 0\.1 s was discarded"):
            loop.simulate(0.4, record=record)
        assert loop.result is not None and loop.result.time.tolist() == [0.0, 0.1, 0.2]
        return
    result = loop.simulate(0.4, record=record)
    assert result.time == pytest.approx([0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4], rel=1e-15)
    assert result["m.x"] == pytest.approx(
        np.cumprod([1.0, 0.9, 0.9, 0.95, 0.95, 0.95, 0.95]), rel=1e-14
    )  # x' = -x by steps of Euler


@pytest.mark.parametrize("status", ["Error", "Fatal"])
def test_derivatives_that_fail(tmp_path: Path, compiled: Compiled, status: str) -> None:
    path = make_model3(tmp_path, compiled, "VDP", f"FAIL_STATUS={status}")
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1)
    said = f"m: .*GetContinuousStateDerivatives: failed with status {status.lower()}.*na.ve"
    with pytest.raises(CoSimulationError, match=said):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time == pytest.approx([0.0, 0.1, 0.2])


def test_warnings_go_on(make: Any) -> None:
    result = run(make("failing", FAILING), starts={"m.fail_at": 0.15, "m.status": 1})
    assert result.time.size == 4


def test_a_step_that_has_to_vary(make: Any) -> None:
    path = make("failing", FAILING)
    with pytest.raises(cosim.CosimError, match=r"vary its communication step.*0\.25"):
        run(path, until=0.25)
    with pytest.raises(cosim.ModelError, match="communication step"):
        run(path, algorithm="adaptive")
    able = make("failing", FAILING, abilities='canHandleVariableCommunicationStepSize="true"', name="able")
    assert run(able, until=0.25)["m.size"][1:] == pytest.approx([0.1, 0.1, 0.05])


def test_without_saved_states_algorithms_that_go_back_refuse(make: Any) -> None:
    with pytest.raises(cosim.ModelError, match="restore.*do without, gauss_seidel"):
        run(make("gain"), algorithm="waveform_iteration")


def test_only_sources(make: Any) -> None:
    path = make("gain", library=False, more={"sources/gain.c": b"int x;"})
    with pytest.raises(cosim.FmuError, match=r"binary.*C sources.*modelDescription\.xml"):
        run(path)
    told = '<SourceFiles><File name="gain.c"/></SourceFiles>'
    with zipfile.ZipFile(path) as archive:
        text = archive.read("modelDescription.xml").decode()
    start = text.index("<CoSimulation")
    end = text.index("/>", start)
    told_text = f"{text[:end]}>{told}</CoSimulation>{text[end + 2 :]}"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", told_text)
        archive.writestr("sources/gain.c", "int x;")
    with pytest.raises(cosim.FmuError, match=r"binary.*'fmpy compile odd\.fmu'.*CMake"):
        run(path)


@pytest.mark.skipif(sys.platform != "linux", reason="ELF is Linux's format")
@pytest.mark.parametrize("kept", [100, 2000, 5000])
def test_a_library_that_is_cut_off_kills_nobody(make: Any, compiled: Compiled, kept: int) -> None:
    from fmpy import platform

    cut = compiled("gain").read_bytes()[:kept]
    path = make("gain", library=False, more={f"binaries/{platform}/gain.so": cut})
    with pytest.raises(cosim.SimulationError, match="the library cannot be loaded"):
        run(path)


def test_small_offences_against_the_standard_are_let_pass(make: Any) -> None:
    """Blanks too many, indices that are not there, parameters without variability."""
    for place, dependencies in enumerate(["  2 \n ", "2 17", "0"]):
        structure = (
            f'<Outputs><Unknown index="1" dependencies="{dependencies}"/><Unknown index="17"/></Outputs>'
            '<InitialUnknowns><Unknown index="0"/></InitialUnknowns>'
        )
        result = run(make("gain", structure=structure, name=f"odd{place}"), starts={"m.u": 1.0})
        assert result["m.y"][0] == 1.0


def test_a_variable_without_a_type_is_an_error(make: Any) -> None:
    path = make("gain", VARIABLES + '<ScalarVariable name="lost" valueReference="7"/>')
    with pytest.raises(cosim.FmuError, match="understood: .*variable"):
        run(path)


def test_a_parameter_out_of_its_type(make: Any) -> None:
    with pytest.raises(cosim.ModelError, match=r"m\.u.*finite number"):
        run(make("gain"), starts={"m.u": np.nan})


@pytest.mark.parametrize("version", [2, 3])
def test_adaptive_tries_shorter_steps_where_one_is_discarded(
    tmp_path: Path, compiled: Compiled, make_fmu: Any, version: int
) -> None:
    """Beyond 0.25 s steps that are longer than 0.03 s are discarded."""
    if version == 3:
        path = make_box3(tmp_path, compiled, "FAIL_STATUS=Discard", "FAIL_SIZE=0.03")
    else:
        path = make_fmu("failing", macros=("FAIL_SIZE=0.03",))
    starts: dict[str, Any] = {"m.fail_at": 0.25} | ({"m.fail_status": 2} if version == 2 else {})
    with pytest.raises(CoSimulationError, match='was discarded.*"adaptive".*ran dry'):
        CoSimulation({"m": path}, [], "jacobi", 0.1, starts=starts).simulate(0.5)
    result = CoSimulation({"m": path}, [], "adaptive", 0.1, starts=starts).simulate(0.5)
    assert result.time[-1] == 0.5 and 2 <= result.statistics["algorithm"]["rejected"] <= 12


def test_adaptive_gives_up_when_every_step_is_discarded(tmp_path: Path, compiled: Compiled) -> None:
    path = make_box3(tmp_path, compiled, "FAIL_STATUS=Discard")
    loop = CoSimulation({"m": path}, [], "adaptive", 0.1, starts={"m.fail_at": 0.25})
    with pytest.raises(CoSimulationError, match="was discarded.*ran dry"):
        loop.simulate(0.5)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.2)


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_nothing_is_read_between_a_set_value_and_a_step(make_fmu: Any, algorithm: str) -> None:
    """FMI 2.0.4, section 4.2.1: not after initialization; a strict FMU refuses it."""
    path = make_fmu("gain", macros=("STRICT=1",))
    names = ["a", "b", "c"]
    links = [("a.y", "b.u"), ("b.y", "c.u")]
    starts = {"a.u": 1.0} | {f"{name}.gain": 2.0 for name in names}
    result = CoSimulation(dict.fromkeys(names, path), links, algorithm, 0.1, starts=starts).simulate(0.3)
    assert result["c.y"].tolist() == [8.0] * 4


class Wandering(cosim.Participant):
    """Changes the folder of the process."""

    def describe(self) -> kit.ParticipantDescription:
        return kit.ParticipantDescription(kind="toy", variables={}, feedthrough=None, can_restore=False)

    def initialize(self, start: float, stop: Any, values: Any, tolerance: float | None = None) -> None:
        os.chdir("/")

    def set(self, names: Any, values: Any) -> None: ...

    def get(self, names: Any) -> list[Any]:
        return []

    def step(self, time: float, size: float) -> float:
        os.chdir("/")
        return time + size

    def save(self) -> object:
        return None

    def restore(self, token: object) -> None: ...

    def close(self) -> None: ...


def test_who_changes_the_folder_is_brought_back(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make("gain")
    monkeypatch.chdir(path.parent)
    loop = CoSimulation({"w": Wandering(), "m": path.name}, [], "jacobi", 0.1, starts={"m.u": 1.0})
    assert loop.simulate(0.2)["m.y"].tolist() == [1.0] * 3
    assert Path.cwd() == path.parent


def test_a_folder_that_has_been_removed_hinders_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert CoSimulation({"w": Wandering()}, [], "jacobi", 0.1).simulate(0.2).time[-1] == pytest.approx(0.2)
