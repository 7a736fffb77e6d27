"""Variables that are booleans, integers, choices and strings, in exported FMUs and in co-simulations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controlled import MODES, TEXTS
from controlled_models import INPUTS, OUTPUTS, controller, outputs_in_process, plan
from export_tools import export
from native_tools import export_native, needs_compiler

import cosim
from cosim_fmu import CoSimulation
from cosim_master.participants.system_participant import SystemParticipant

KINDS = [
    pytest.param("python", 2),
    pytest.param("native", 2, marks=needs_compiler),
    pytest.param("native", 3, marks=needs_compiler),
]
VALUES = {
    **{"enable": True, "mode": "gentle", "order": "go", "count": 3, "place": 0.5, "gain": 20.0},
    **{"inverted": True, "levels": 2, "law": "square", "surface": "dry"},
}
WRONG_VALUES = {"mode": 4, "order": "stop", "levels": 0, "law": 0, "surface": "", "place": float("nan")}


class Ticking(cosim.Component):
    """Counts ticks, 1,000 in a second; the other outputs follow from the count."""

    on = cosim.output(dtype=bool)
    mode = cosim.output(choices=MODES)
    count = cosim.output(dtype=int)
    ticks = cosim.discrete(start=0.0)

    @cosim.every(0.001, offset=0.0005, does="discrete")
    def tick(ticks, ticks_next):
        ticks_next[0] = ticks + 1.0

    @cosim.kernel
    def show(ticks, on, mode, count):
        half = 0.5 * ticks
        on[0] = 1.0 if half == float(int(half)) else 0.0
        mode[0] = 1.0 if ticks < 100.0 else 2.0
        count[0] = ticks


class DrivenFmu:
    """An instance of an FMU whose variables are read and set by name, enumerations as numbers."""

    def __init__(self, path: Path, version: int, folder: Path) -> None:
        from fmpy import extract, read_model_description
        from fmpy.fmi2 import FMU2Slave
        from fmpy.fmi3 import FMU3Slave

        description = read_model_description(str(path))
        self.version = version
        self.variables = {v.name.removeprefix("c."): v for v in description.modelVariables}
        self.fmu = (FMU2Slave if version == 2 else FMU3Slave)(
            guid=description.guid,
            unzipDirectory=extract(str(path), str(folder)),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="one",
        )
        self.fmu.instantiate()

    def start(self) -> None:
        if self.version == 2:
            self.fmu.setupExperiment()
        self.fmu.enterInitializationMode()

    def _access(self, verb: str, name: str, *values: Any) -> Any:
        type_ = self.variables[name].type
        if type_ == "Enumeration":
            type_ = "Integer" if self.version == 2 else "Int64"
        return getattr(self.fmu, f"{verb}{type_}")([self.variables[name].valueReference], *values)

    def __getitem__(self, name: str) -> Any:
        value = self._access("get", name)[0]
        return value.decode() if isinstance(value, bytes) else value

    def __setitem__(self, name: str, value: Any) -> None:
        self._access("set", name, [value])

    def refuses(self, name: str, value: Any) -> bool:
        """Whether setting a variable fails."""
        from fmpy.fmi1 import FMICallException

        try:
            self[name] = value
        except FMICallException:
            return True
        return False

    def restore_bytes(self, data: Any) -> None:
        if self.version == 2:
            self.fmu.setFMUstate(self.fmu.deSerializeFMUstate(data))
        else:
            self.fmu.setFMUState(self.fmu.deserializeFMUState(data))

    def to_bytes(self) -> Any:
        if self.version == 2:
            return self.fmu.serializeFMUstate(self.fmu.getFMUstate())
        return self.fmu.serializeFMUState(self.fmu.getFMUState())

    def all(self) -> dict[str, Any]:
        """The values of all variables except time."""
        return {name: self[name] for name in self.variables if name not in ("time", "c.time")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("types")


@pytest.fixture
def fmu(kind: str, version: int, folder: Path, tmp_path: Path) -> Iterator[DrivenFmu]:
    path = folder / f"{kind}{version}.fmu"
    if not path.exists():
        _ = (
            export(controller(), path, all=False)
            if kind == "python"
            else export_native(controller(), path, fmi=version, all=False)
        )
    driven = DrivenFmu(path, version, tmp_path / "unpacked")
    yield driven
    driven.fmu.freeInstance()


def number(value: Any) -> Any:
    """The value of a variable in an FMU: the number of a choice, any other value as it is."""
    numbers = {"gentle": 1, "firm": 2, "off": 3, "linear": 1, "square": 2}
    return numbers.get(value, value) if isinstance(value, str) else value


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_model_descriptions_declare_their_types(
    kind: str, version: int, fmu: DrivenFmu, folder: Path
) -> None:
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(folder / f"{kind}{version}.fmu")) == []
    whole, real = ("Integer", "Real") if version == 2 else ("Int64", "Float64")
    types = {n: (v.type, v.variability, v.start) for n, v in fmu.variables.items() if n != "time"}
    expected = {
        "enable": ("Boolean", "discrete", "false"),
        "mode": ("Enumeration", "discrete", "2"),
        "order": ("String", "discrete", "hold"),
        "count": (whole, "discrete", "2"),
        "place": (real, "continuous", "0.0"),
        "force": (real, "continuous", None),
        "is_active": ("Boolean", "discrete", None),
        "level": (whole, "discrete", None),
        "shown_mode": ("Enumeration", "discrete", None),
        "message": ("String", "discrete", None),
        "inverted": ("Boolean", "tunable", "false"),
        "levels": (whole, "tunable", "4"),
        "law": ("Enumeration", "tunable", "1"),
        "surface": ("String", "tunable", "wet"),
    }
    assert {name: types[name] for name in expected} == expected
    items = [item.name for item in fmu.variables["mode"].declaredType.items]
    assert tuple(items) == MODES and fmu.variables["shown_mode"].declaredType.name == "Mode"


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_they_are_set_and_read(kind: str, version: int, fmu: DrivenFmu) -> None:
    """The outputs are those in this process: in initialization, after steps and in a restored state."""
    assert fmu["order"] == "hold" and fmu["surface"] == "wet"
    fmu.start()
    fmu["surface"] = "dry"
    for name, value in VALUES.items():
        fmu[name] = number(value)
    expected = outputs_in_process(**VALUES)
    assert expected["is_active"] == 1.0 and expected["level"] == 2.0 and "ü" in expected["message"]
    assert {name: fmu[name] for name in expected} == expected
    fmu.fmu.exitInitializationMode()
    for i, changes in enumerate(({}, {"mode": "off"}, {"mode": "firm", "order": "hold"}, {"order": "go"})):
        for name, value in changes.items():
            fmu[name] = number(value)
        fmu.fmu.doStep(0.1 * i, 0.1)
        expected = outputs_in_process(**{**VALUES, **changes, **({"mode": "firm"} if i == 3 else {})})
        assert {name: fmu[name] for name in expected} == expected
    data, saved_values = fmu.to_bytes(), fmu.all()
    fmu["order"], fmu["surface"] = "hold", "wet"
    fmu.restore_bytes(data)
    assert fmu.all() == saved_values


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_wrong_values_and_values_of_outputs_are_refused(kind: str, version: int, fmu: DrivenFmu) -> None:
    fmu.start()
    fmu.fmu.exitInitializationMode()
    before = fmu.all()
    for name, value in WRONG_VALUES.items():
        assert fmu.refuses(name, value), name
        assert fmu.all() == before
    for name in ("is_active", "message", "shown_mode"):
        assert fmu.refuses(name, before[name]), name


@needs_compiler
def test_in_model_exchange_discrete_inputs_are_set_in_event_mode_only(tmp_path: Path) -> None:
    from fmpy import extract, read_model_description
    from fmpy.fmi1 import FMICallException
    from fmpy.fmi2 import FMU2Model

    path = export_native(controller(), tmp_path / "c.fmu")
    description = read_model_description(str(path))
    references = {v.name: v.valueReference for v in description.modelVariables}
    fmu = FMU2Model(
        guid=description.guid,
        unzipDirectory=extract(str(path), str(tmp_path / "unpacked")),
        modelIdentifier=description.modelExchange.modelIdentifier,
        instanceName="one",
    )
    fmu.instantiate()
    fmu.setupExperiment()
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.newDiscreteStates()
    fmu.setBoolean([references["c.enable"]], [True])
    fmu.setString([references["c.order"]], ["go"])
    fmu.enterContinuousTimeMode()
    fmu.setReal([references["c.place"]], [1.0])
    assert fmu.getReal([references["c.force"]])[0] == -10.0 * 2.0 * 2.0 * 2.0  # gain, mode, surface, count
    with pytest.raises(FMICallException):
        fmu.setBoolean([references["c.enable"]], [False])
    with pytest.raises(FMICallException):
        fmu.setString([references["c.order"]], ["hold"])
    fmu.freeInstance()


@pytest.mark.few(1)
@pytest.mark.parametrize("planned_by", ["system", "fmu"])
@pytest.mark.parametrize("controlled_by", ["system", "fmu"])
def test_they_are_exchanged_in_a_co_simulation(planned_by: str, controlled_by: str, tmp_path: Path) -> None:
    participants: dict[str, Any] = {}
    for name, model, kind in (("a", plan(), planned_by), ("b", controller(), controlled_by)):
        if kind == "fmu":
            participants[name] = export(model, tmp_path / f"{name}.fmu", all=False)
        else:
            participants[name] = SystemParticipant(model.build())
    links = [f"a.plan.{name} -> b.c.{name}" for name in INPUTS]
    starts = {"b.c.surface": "dry", "b.c.law": "square", "b.c.inverted": True, "b.c.levels": 1}
    loop = CoSimulation(participants, links, "gauss_seidel", 0.1, starts=starts)
    result = loop.simulate(0.3, record=[f"b.c.{name}" for name in OUTPUTS])
    assert float(result["b.c.force"][-1]) == 10.0 * 0.25 * 0.25 * 3.0
    # active, at a level of 1, the largest one, in mode 1, with the message for a force beyond the levels
    assert [result[f"b.c.{name}"][-1] for name in OUTPUTS[1:]] == [True, 1, 1, TEXTS[2]]
    with pytest.raises(cosim.ModelError, match="b.c.law.*'cubic', needs.*'linear', 'square'"):
        CoSimulation(participants, links, "gauss_seidel", 0.1, starts={"b.c.law": "cubic"})


@pytest.mark.thorough
@needs_compiler
def test_compiled_steps_exchange_the_same_values_as_python() -> None:
    """In runs of more than 2,000 steps compiled code calls the systems; strings are numbers there."""
    links = ["a.t.on -> b.c.enable", "a.t.mode -> b.c.mode", "a.t.count -> b.c.count"]
    starts = {"b.c.order": "go", "b.c.place": 1.0, "b.c.levels": 10**6}

    def run(steps: int) -> Any:
        model = cosim.Model("ticking")
        model.add(Ticking, "t")
        participants = {"a": SystemParticipant(model.build()), "b": SystemParticipant(controller().build())}
        loop = CoSimulation(participants, links, "gauss_seidel", 0.001, starts=starts)
        return loop.simulate(steps * 0.001, record=["a.t.count", "b.c.force", "b.c.is_active", "b.c.level"])

    short, long = run(200), run(2500)
    assert set(short.statistics["in_python"]) == {"a", "b"} and not long.statistics["in_python"]
    for name in ("a.t.count", "b.c.force", "b.c.is_active", "b.c.level"):
        assert short[name][:200].tolist() == long[name][:200].tolist(), name
    assert {False, True} == {bool(x) for x in long["b.c.is_active"][:20]}
    assert float(long["b.c.force"][-1]) in (0.0, -10.0 * 2.0 * 2.0 * float(long["a.t.count"][-1]))
