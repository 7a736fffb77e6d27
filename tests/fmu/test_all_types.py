"""Inputs, parameters and outputs that are switches, whole numbers, words and text, in every FMU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controlled import MODES, TEXTS, Controller, Plan
from export_tools import export
from native_tools import export_native, needs_compiler

import cosim
from cosim import kit
from cosim_fmu import CoSimulation
from cosim_master.participants.system_participant import SystemParticipant

KINDS = [
    pytest.param("python", 2),
    pytest.param("native", 2, marks=needs_compiler),
    pytest.param("native", 3, marks=needs_compiler),
]
GIVEN = {
    **{"enable": True, "mode": "gentle", "order": "go", "count": 3, "place": 0.5, "gain": 20.0},
    **{"inverted": True, "levels": 2, "law": "square", "surface": "dry"},
}
WRONG = {"mode": 4, "order": "stop", "levels": 0, "law": 0, "surface": "", "place": float("nan")}


def controller(**values: Any) -> cosim.Model:
    model = cosim.Model("controlled")
    model.add(Controller, "c", **values)
    return model


class Driven:
    """An FMU by the names of its variables; enumerations by their numbers."""

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
        from fmpy.fmi1 import FMICallException

        try:
            self[name] = value
        except FMICallException:
            return True
        return False

    def all(self) -> dict[str, Any]:
        return {name: self[name] for name in self.variables if name not in ("time", "c.time")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("types")


@pytest.fixture
def fmu(kind: str, version: int, folder: Path, tmp_path: Path) -> Iterator[Driven]:
    path = folder / f"{kind}{version}.fmu"
    if not path.exists():
        _ = (
            export(controller(), path, all=False)
            if kind == "python"
            else export_native(controller(), path, fmi=version, all=False)
        )
    driven = Driven(path, version, tmp_path / "unpacked")
    yield driven
    driven.fmu.freeInstance()


def number(value: Any) -> Any:
    """As an FMU has it: a word of an enumeration is its number."""
    words = {"gentle": 1, "firm": 2, "off": 3, "linear": 1, "square": 2}
    return words.get(value, value) if isinstance(value, str) else value


def here(**values: Any) -> dict[str, Any]:
    """What the outputs are in this process."""
    system = controller().build()
    state = system.default_state()
    for name, value in values.items():
        state[f"c.{name}"] = value
    state.realize()
    names = ("force", "is_active", "level", "shown_mode", "message")
    found = {name: float(state[f"c.{name}"]) for name in names}
    return {**found, "message": TEXTS[int(found["message"]) - 1]}


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_they_are_described_as_what_they_are(kind: str, version: int, fmu: Driven, folder: Path) -> None:
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
def test_they_are_set_and_read(kind: str, version: int, fmu: Driven) -> None:
    assert fmu["order"] == "hold" and fmu["surface"] == "wet"
    fmu.start()
    fmu["surface"] = "dry"
    for name, value in GIVEN.items():
        fmu[name] = number(value)
    expected = here(**GIVEN)
    assert expected["is_active"] == 1.0 and expected["level"] == 2.0 and "ü" in expected["message"]
    assert {name: fmu[name] for name in expected} == expected
    fmu.fmu.exitInitializationMode()
    for i, changes in enumerate(({}, {"mode": "off"}, {"mode": "firm", "order": "hold"}, {"order": "go"})):
        for name, value in changes.items():
            fmu[name] = number(value)
        fmu.fmu.doStep(0.1 * i, 0.1)
        expected = here(**{**GIVEN, **changes, **({"mode": "firm"} if i == 3 else {})})
        assert {name: fmu[name] for name in expected} == expected
    state = fmu.fmu.getFMUState() if version == 3 else fmu.fmu.getFMUstate()
    data = fmu.fmu.serializeFMUState(state) if version == 3 else fmu.fmu.serializeFMUstate(state)
    before = fmu.all()
    fmu["order"], fmu["surface"] = "hold", "wet"
    restore = fmu.fmu.deserializeFMUState if version == 3 else fmu.fmu.deSerializeFMUstate
    (fmu.fmu.setFMUState if version == 3 else fmu.fmu.setFMUstate)(restore(data))
    assert fmu.all() == before


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_what_is_none_of_them_is_refused(kind: str, version: int, fmu: Driven) -> None:
    fmu.start()
    fmu.fmu.exitInitializationMode()
    before = fmu.all()
    for name, value in WRONG.items():
        assert fmu.refuses(name, value), name
        assert fmu.all() == before
    for name in ("is_active", "message", "shown_mode"):
        assert fmu.refuses(name, before[name]), name  # what is computed is never taken


@needs_compiler
def test_what_jumps_is_set_in_event_mode(tmp_path: Path) -> None:
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
    assert fmu.getReal([references["c.force"]])[0] == -10.0 * 2.0 * 2.0 * 2.0
    with pytest.raises(FMICallException):
        fmu.setBoolean([references["c.enable"]], [False])
    with pytest.raises(FMICallException):
        fmu.setString([references["c.order"]], ["hold"])
    fmu.freeInstance()


def test_values_in_a_model() -> None:
    assert here()["is_active"] == 0.0
    model = controller(enable=True, mode="gentle", order="go", place=0.5, surface="dry")
    system = model.build()
    state = system.default_state()
    state.realize()
    assert float(state["c.force"]) == -10.0 * 0.5 * 1.0 * 1.0 * 2.0
    for name, value, said in (
        ("enable", 2, "c.enable: 2 is not a switch"),
        ("mode", "fast", "c.mode: mode is 'fast', needs one of 'gentle', 'firm', 'off'"),
        ("mode", True, "c.mode: mode is True, needs one of"),
        ("order", "stop", "c.order: order is 'stop', needs one of 'hold', 'go'"),
        ("count", 1.5, "c.count: count is 1.5, needs an integer"),
    ):
        with pytest.raises(cosim.StateError) as caught:
            state[f"c.{name}"] = value
        assert str(caught.value).startswith(said)
    with pytest.raises(cosim.StateError, match="real number"):
        system.write_slope(state, "c.enable", 1.0)


def planned(*links: str) -> cosim.Model:
    model = controller()
    model.add(Plan, "plan")
    for link in links:
        model.connect(*link.split(" -> "))
    return model


def test_parts_are_connected_type_by_type() -> None:
    links = [f"plan.{name} -> c.{name}" for name in ("enable", "mode", "order", "count", "place")]
    state = planned(*links).build().default_state()
    state.realize()
    assert float(state["c.force"]) == -10.0 * 0.25 * 1.0 * 2.0 * 3.0
    counted = planned("plan.enable -> c.count", "plan.mode -> c.place").build  # a number takes everything
    with pytest.raises(cosim.ModelError, match="1, m is needed"):
        counted()
    planned("plan.enable -> c.count").build()


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("plan.place -> c.enable", "'plan.place' is a number, a switch is needed here."),
        ("plan.count -> c.enable", "'plan.count' is a whole number, a switch is needed here."),
        ("plan.place -> c.count", "'plan.place' is a number, a whole number is needed here."),
        (
            "plan.other -> c.order",
            "'plan.other' is one of 'hold', 'go', 'stop', one of 'hold', 'go' is needed",
        ),
        ("plan.count -> c.mode", "'plan.count' is a whole number, one of 'gentle', 'firm', 'off' is needed"),
    ],
)
def test_connections_that_cannot_be(link: str, said: str) -> None:
    with pytest.raises(cosim.ModelError) as caught:
        planned(link).build()
    assert said in str(caught.value)


def test_a_switch_takes_no_factor() -> None:
    model = planned()
    model.connect("plan.enable", "c.enable", factor=2.0)
    with pytest.raises(cosim.ModelError, match="takes neither factor"):
        model.build()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"dtype": str}, "dtype is str, needs float, int or bool, or str with choices"),
        ({"dtype": complex}, "dtype is complex, needs float, int or bool, or str with choices"),
        ({"choices": ("a", "a")}, "lists a choice twice"),
        ({"choices": ("a", "b"), "unit": "m"}, "no unit, bounds, dtype or convert"),
        ({"choices": ("a", "b"), "dtype": bool}, "no unit, bounds, dtype or convert"),
    ],
)
def test_declarations_that_cannot_be(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(cosim.ContractError, match=sentence):
        cosim.input(**given)


NAMES = ("enable", "mode", "order", "count", "place")
SHOWN = ("force", "is_active", "level", "shown_mode", "message")


def plan() -> cosim.Model:
    model = cosim.Model("planned")
    model.add(Plan, "plan")
    return model


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
    links = [f"a.plan.{name} -> b.c.{name}" for name in NAMES]
    starts = {"b.c.surface": "dry", "b.c.law": "square", "b.c.inverted": True, "b.c.levels": 1}
    loop = CoSimulation(participants, links, "gauss_seidel", 0.1, starts=starts)
    result = loop.simulate(0.3, record=[f"b.c.{name}" for name in SHOWN])
    assert float(result["b.c.force"][-1]) == 10.0 * 0.25 * 0.25 * 3.0
    assert [result[f"b.c.{name}"][-1] for name in SHOWN[1:]] == [True, 1, 1, TEXTS[2]]
    with pytest.raises(cosim.ModelError, match="b.c.law.*'cubic', needs.*'linear', 'square'"):
        CoSimulation(participants, links, "gauss_seidel", 0.1, starts={"b.c.law": "cubic"})


def test_what_is_given_in_a_model_file(tmp_path: Path) -> None:
    file = tmp_path / "m.toml"
    file.write_text(
        '[model]\nname = "m"\n[components.hold]\ntype = "tests.controller"\nenable = true\nmode = "gentle"\n'
        'order = "go"\nplace = 0.5\nsurface = "dry"\n',
        "utf-8",
    )
    entry = kit.RegisteredClass("tests.controller", Controller, "tests", "tests", "1.0")
    tests = kit.PluginRecord("tests", "tests", "1.0", "tests", "loaded", None, (entry,))
    with kit.use_registry(kit.Registry([*cosim.registry().plugins, tests])):
        state = cosim.Model.from_file(file).build().default_state()
    state.realize()
    assert float(state["hold.force"]) == -10.0 * 0.5 * 1.0 * 1.0 * 2.0


class Ticking(cosim.Component):
    """Switches on and off, and counts."""

    on = cosim.output(dtype=bool)
    mode = cosim.output(choices=MODES)
    count = cosim.output(dtype=int)
    ticks = cosim.discrete(start=0.0)

    @cosim.every(0.001, offset=0.0005, does="discrete")
    def tick(ticks, ticks_next):
        ticks_next[0] = ticks + 1.0

    @cosim.kernel
    def tell(ticks, on, mode, count):
        half = 0.5 * ticks
        on[0] = 1.0 if half == float(int(half)) else 0.0
        mode[0] = 1.0 if ticks < 100.0 else 2.0
        count[0] = ticks


@pytest.mark.thorough
@needs_compiler
def test_compiled_steps_exchange_them_as_python_does() -> None:
    """Beyond 2000 steps systems are called by addresses, where nothing of them is text."""
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
