"""A whole scenario as one FMU: the bits of the co-simulation, in a host that knows nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fmpy
import pytest
from export_tools import unpack
from native_tools import needs_compiler
from part_fmu import make_part
from scenario_files import LOOP, write_loop
from small_fmus import write_fmu
from test_export_clients import CLIENTS, peers
from test_export_processes import python

from cosim.cli import main
from cosim.kit import remove_folder
from cosim_fmi.fmu_archive import FmuArchive
from cosim_fmi.validate.experiments import read_experiments
from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]
SPRING = ["left.force -> right.f", "right.x -> left.x_other", "right.v -> left.v_other"]
MASSES = {"left.m": 2.0, "left.k": 30.0, "left.kc": 40.0, "left.cc": 1.0, "right.k": 20.0, "right.x": 0.5}
RING = ["one.y -> two.u", "two.y -> one.u"]
OSCILLATOR = """\
[model]
name = "oscillator"
[components.c]
type = "signals.sine"
"""


def scenario(
    folder: Path,
    parts: Mapping[str, str],
    links: Sequence[str],
    master: str = "step = 0.01\nuntil = 0.3",
    starts: Mapping[str, Any] | None = None,
    more: str = "",
) -> Path:
    """``loop.toml``; a part is what stands in its table."""
    tables = "".join(f"[participants.{name}]\n{text}\n" for name, text in parts.items())
    given = "".join(f'"{name}" = {json.dumps(value)}\n' for name, value in (starts or {}).items())
    path = folder / "loop.toml"
    path.write_text(
        f"connections = {json.dumps(list(links))}\n{more}\n{tables}[parameters]\n{given}[master]\n{master}\n",
        "utf-8",
    )
    return path


def masses(folder: Path, make_fmu: MakeFmu, master: str) -> Path:
    make_fmu("mass")
    parts = dict.fromkeys(("left", "right"), 'fmu = "mass.fmu"')
    return scenario(folder, parts, SPRING, f"{master}\nstep = 0.01\nuntil = 0.3", MASSES)


def exported(path: Path, *words: str, kind: str = "--python") -> Path:
    target = path.parent / "whole.fmu"
    given = words or ("--no-experiment",)
    assert main(["export", str(path), "-o", str(target), "-q", kind, *given]) == 0
    return target


@contextmanager
def running(fmu: Path, stop: float | None = None, **starts: float) -> Iterator[Instance]:
    """An instance that has been initialized."""
    description = fmpy.read_model_description(str(fmu))
    unpacked = str(unpack(fmu, fmu.stat().st_mtime_ns))
    slave = fmpy.fmi2.FMU2Slave(
        guid=description.guid,
        unzipDirectory=unpacked,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="whole",
    )
    slave.instantiate()
    instance = Instance(slave, {v.name: v for v in description.modelVariables})
    try:
        slave.setupExperiment(startTime=0.0, stopTime=stop)
        instance.set(**starts)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        yield instance
    finally:
        slave.freeInstance()


class Instance:
    """An FMU with its variables by name."""

    def __init__(self, slave: Any, variables: Mapping[str, Any]) -> None:
        self.slave, self.variables = slave, variables

    def set(self, **values: float) -> None:
        for name, value in values.items():
            self.slave.setReal([self.variables[name.replace("__", ".")].valueReference], [value])

    def __getitem__(self, name: str) -> Any:
        variable = self.variables[name]
        get = self.slave.getReal if variable.type == "Real" else self.slave.getInteger
        return get([variable.valueReference])[0]

    def step(self, time: float, size: float) -> float:
        self.slave.doStep(time, size)
        return time + size


def assert_same_bits(path: Path, until: float | None = None, variant: str | None = None) -> int:
    """What the FMU of a scenario shows in fmpy are the bits of the co-simulation; the number of values."""
    make = CoSimulation.from_ssp if path.suffix == ".ssp" else CoSimulation.from_file
    loop = make(path, variant)
    whole = loop.simulate(until)
    fmu = exported(path)
    description = fmpy.read_model_description(str(fmu), validate=True)
    variables = [v for v in description.modelVariables if v.causality == "output" and v.type != "String"]
    variables = [v for v in variables if not v.name.startswith("coupling.")]
    outputs = [v.name for v in variables]  # fmpy records no texts
    given = {"stop_time": until or loop.until, "output_interval": loop.step, "output": outputs}
    found = fmpy.simulate_fmu(str(fmu), **given)
    places = {round(time, 9): i for i, time in enumerate(whole.time)}  # of two rows at an event the later one
    count = 0
    for name in outputs:
        for time, value in zip(found["time"], found[name], strict=True):
            expected = whole[name][places[round(time, 9)]]
            assert value == expected or (value != value and expected != expected), (name, time)
            count += 1
    return count


def closed_loop(folder: Path, make_fmu: MakeFmu, compiled: Callable[..., Path]) -> Path:
    make_fmu("gain")
    parts = dict.fromkeys(("one", "two"), 'fmu = "gain.fmu"')
    return scenario(folder, parts, RING, starts={"one.gain": -0.5, "one.bias": 1.0, "two.gain": 0.7})


def joint_systems(folder: Path, make_fmu: MakeFmu, compiled: Callable[..., Path]) -> Path:
    make_part(folder, compiled)
    parts = dict.fromkeys(("p", "q"), 'fmu = "part.fmu"')
    master = 'algorithm = "joint"\nstep = 0.1\nuntil = 1.0'
    return scenario(folder, parts, ["p.y -> q.u", "q.y -> p.u"], master)


MASTERS = [
    'algorithm = "jacobi"',
    'algorithm = "gauss_seidel"',
    'algorithm = "jacobi"\noptions = { extrapolation = 2 }',
    'algorithm = "gauss_seidel"\noptions = { extrapolation = 1 }',
    'algorithm = "adaptive"\noptions = { tolerance = 1e-5 }',
    'algorithm = "interface_newton"',
    'algorithm = "waveform_iteration"',
]
RUN_ELSEWHERE = (MASTERS[1], MASTERS[2], MASTERS[5])
"""By a host, with the other algorithm, and without Python."""
SLOW = LOOP.replace('type = "controller:Thermostat"', 'type = "controller:Thermostat"\nstep = "30 s"')
CHANGE = '[[changes]]\nwhen = "room.temperature > 18.5"\nset = { "controller.wanted" = 15.0 }\n'
SCENARIOS: dict[str, Callable[[Path, MakeFmu, Callable[..., Path]], Path]] = {
    **{text: lambda folder, make, _, text=text: masses(folder, make, text) for text in MASTERS},  # type: ignore[misc]
    "closed loop": closed_loop,
    "joint systems": joint_systems,
    "Python and values over time": lambda folder, *_: write_loop(folder),
    "slow participants": lambda folder, *_: write_loop(folder, SLOW),
    "changes": lambda folder, *_: write_loop(folder, f"{LOOP}{CHANGE}"),
}


class TestTheBits:
    """Against ``cosim cosimulate``, scenario by scenario."""

    @pytest.mark.few(3)
    @pytest.mark.parametrize(
        "name",
        [pytest.param(name, marks=[pytest.mark.thorough] * (name in RUN_ELSEWHERE)) for name in SCENARIOS],
    )
    def test_of(self, name: str, tmp_path: Path, make_fmu: MakeFmu, compiled: Callable[..., Path]) -> None:
        assert assert_same_bits(SCENARIOS[name](tmp_path, make_fmu, compiled)) > 20

    def test_of_all_types(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        make_fmu("types")
        parts = dict.fromkeys(("one", "two"), 'fmu = "types.fmu"')
        links = [f"one.{kind}_out -> two.{kind}_in" for kind in ("real", "integer", "boolean")]
        starts = {"one.real_in": 1.5, "one.integer_in": 7, "one.boolean_in": True, "one.string_in": "größer"}
        assert assert_same_bits(scenario(tmp_path, parts, links, starts=starts)) > 100

    def test_of_an_ssp(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        CoSimulation.from_file(masses(tmp_path, make_fmu, "")).to_ssp(tmp_path / "loop.ssp", 0.3)
        assert assert_same_bits(tmp_path / "loop.ssp") > 100


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, compiled: Callable[..., Path]) -> Path:
    folder = tmp_path_factory.mktemp("whole")

    def make(kind: str) -> Path:
        return write_fmu(folder / f"{kind}.fmu", kind, compiled(kind))

    return exported(masses(folder, make, 'algorithm = "gauss_seidel"'))


class TestTheHost:
    """What a host may do with it."""

    def test_steps_of_several_communication_steps(self, whole: Path) -> None:
        result = CoSimulation.from_file(whole.parent / "loop.toml").simulate()
        with running(whole) as found:
            time = 0.0
            for steps in (3, 1, 7, 19):
                time = found.step(time, 0.01 * steps)
                assert found["right.x"] == result["right.x"][round(time / 0.01)]

    def test_steps_that_end_inside_a_communication_step(self, whole: Path) -> None:
        shorter = CoSimulation.from_file(whole.parent / "loop.toml", step=0.0025).simulate()
        with running(whole) as found:
            time = 0.0
            for i in range(1, 121):
                time = found.step(time, 0.0025)
                assert found["right.x"] == pytest.approx(shorter["right.x"][i], rel=1e-12)

    def test_a_cut_step_goes_on_to_its_communication_point(self, whole: Path) -> None:
        with running(whole) as one, running(whole) as other:
            for sizes, found in (((0.007, 0.013, 0.01), one), ((0.007, 0.003, 0.02), other)):
                time = 0.0
                for size in sizes:
                    time = found.step(time, size)
            assert one["right.x"] == other["right.x"]

    def test_a_start_value_of_the_host(self, whole: Path) -> None:
        starts = {"left.k": 55.0, "right.f": 0.0}
        result = CoSimulation.from_file(whole.parent / "loop.toml", starts=starts).simulate()
        with running(whole, left__k=55.0) as found:
            found.step(0.0, 0.3)
            assert found["right.x"] == result["right.x"][-1]
            assert found["left.k"] == 55.0

    def test_an_input_is_held_over_a_step(self, whole: Path) -> None:
        series = {"left.f": [[0.0, 0.0], [0.1, 8.0], [0.2, -3.0]]}
        result = CoSimulation.from_file(whole.parent / "loop.toml", inputs=series).simulate()
        with running(whole) as found:
            for i, force in enumerate((0.0, 8.0, -3.0)):
                found.set(left__f=force)
                found.step(0.1 * i, 0.1)
                assert found["left.f"] == force
                assert found["right.x"] == result["right.x"][10 * (i + 1)]

    def test_the_error_of_the_coupling(self, whole: Path) -> None:
        report = CoSimulation.from_file(whole.parent / "loop.toml").simulate().coupling
        with running(whole, stop=0.3) as found:
            assert (found["coupling.error"], found["coupling.verdict"]) == (-1.0, 5)  # not known yet
            found.step(0.0, 0.3)
            assert report.worst is not None and report.verdict == "other algorithm"
            assert found["coupling.error"] == report.worst.relative > 0.0
            assert found["coupling.verdict"] == 4
            assert found["coupling.right.x"] == report["right.x"].error

    @pytest.mark.parametrize("sizes", [(0.05, 0.05), (0.053, 0.0122)])
    def test_rollback(self, whole: Path, sizes: tuple[float, float]) -> None:
        with running(whole) as found:
            time = found.step(0.0, sizes[0])
            saved = found.slave.getFMUstate()
            before = found["right.x"]
            ends = []
            for _ in range(3):
                found.set(left__f=9.0)
                reached = found.step(time, sizes[1])
                ends.append(found.step(reached, 0.1) and found["right.x"])
                found.slave.setFMUstate(saved)
                assert found["right.x"] == before and found["left.f"] == 0.0
            assert len(set(ends)) == 1 and ends[0] != before
            found.slave.freeFMUstate(saved)

    def test_a_state_goes_to_another_instance(self, whole: Path) -> None:
        with running(whole) as one, running(whole) as other:
            one.step(0.0, 0.12)
            other.step(0.0, 0.3)
            data = one.slave.serializeFMUstate(one.slave.getFMUstate())
            other.slave.setFMUstate(other.slave.deSerializeFMUstate(data))
            assert other["right.x"] == one["right.x"]
            for found in (one, other):
                found.step(0.12, 0.1)
            assert other["right.x"] == one["right.x"]

    def test_values_can_be_read_after_the_end(self, whole: Path) -> None:
        with running(whole) as found:
            found.step(0.0, 0.1)
            before = found["right.x"]
            found.slave.terminate()
            assert found["right.x"] == before

    def test_reset(self, whole: Path) -> None:
        with running(whole) as found:
            ends = []
            for _ in range(2):
                found.step(0.0, 0.1)
                ends.append(found["right.x"])
                found.slave.terminate()
                found.slave.reset()
                found.slave.setupExperiment(startTime=0.0)
                found.slave.enterInitializationMode()
                found.slave.exitInitializationMode()
            assert ends[0] == ends[1]

    def test_initialization_is_made_again_where_a_value_is_set(self, whole: Path) -> None:
        with running(whole) as found:
            found.slave.terminate()
            found.slave.reset()
            found.slave.setupExperiment(startTime=0.0)
            found.slave.enterInitializationMode()
            before = found["left.force"]
            found.set(left__kc=80.0)
            assert found["left.force"] == 2.0 * before != 0.0
            found.slave.exitInitializationMode()
            assert found["left.force"] == 2.0 * before

    def test_a_fixed_parameter_is_refused_between_steps(self, whole: Path) -> None:
        with running(whole) as found:
            with pytest.raises(fmpy.fmi1.FMICallException):
                found.set(left__k=55.0)
            found.set(left__k=30.0)  # as it is

    def test_participants_that_cannot_divide_their_steps(self, tmp_path: Path) -> None:
        text = LOOP.replace('type = "controller:Thermostat"', 'type = "controller:Thermostat"\nstep = "30 s"')
        fmu = exported(write_loop(tmp_path, text))
        description = fmpy.read_model_description(str(fmu))
        assert not description.coSimulation.canHandleVariableCommunicationStepSize
        with running(fmu) as found:
            with pytest.raises(fmpy.fmi1.FMICallException):
                found.step(0.0, 15.0)
            assert found.step(0.0, 20.0) == 20.0

    def test_participants_that_only_save_in_memory(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        abilities = 'canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true"'
        make_fmu("mass", abilities=abilities)
        parts = dict.fromkeys(("left", "right"), 'fmu = "mass.fmu"')
        fmu = exported(scenario(tmp_path, parts, SPRING, starts=MASSES))
        description = fmpy.read_model_description(str(fmu))
        assert description.coSimulation.canGetAndSetFMUstate
        assert not description.coSimulation.canSerializeFMUstate
        with running(fmu) as found:
            found.step(0.0, 0.05)
            saved = found.slave.getFMUstate()
            found.step(0.05, 0.1)
            end = found["right.x"]
            found.slave.setFMUstate(saved)
            found.step(0.05, 0.1)
            assert found["right.x"] == end
            found.slave.freeFMUstate(saved)

    def test_a_participant_that_fails(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        make_fmu("failing")
        starts = {"one.fail_at": 0.105, "one.fail_status": 3}
        fmu = exported(scenario(tmp_path, {"one": 'fmu = "failing.fmu"'}, [], starts=starts))
        with running(fmu) as found:
            found.step(0.0, 0.1)
            with pytest.raises(fmpy.fmi1.FMICallException):
                found.step(0.1, 0.1)

    def test_a_participant_that_asks_to_stop(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        make_fmu("failing")
        starts = {"one.fail_at": 0.105, "one.fail_status": 2, "one.asks_to_stop": True}
        fmu = exported(scenario(tmp_path, {"one": 'fmu = "failing.fmu"'}, [], starts=starts))
        with running(fmu) as found:
            found.step(0.0, 0.1)
            with pytest.raises(fmpy.fmi1.FMICallException, match="discard"):
                found.step(0.1, 0.1)
            assert found["one.y"] == found["one.y"]


class TestInsideAnother:
    """A container is a participant like others."""

    @pytest.mark.thorough
    def test_inside_another_scenario(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        flat = CoSimulation.from_file(masses(tmp_path, make_fmu, 'algorithm = "jacobi"')).simulate()
        starts = {name: value for name, value in MASSES.items() if name.startswith("left")}
        inner = scenario(tmp_path, {"left": 'fmu = "mass.fmu"'}, [], starts=starts)
        exported(inner).rename(tmp_path / "left.fmu")
        parts = {"box": 'fmu = "left.fmu"', "right": 'fmu = "mass.fmu"'}
        links = ["box.left.force -> right.f", "right.x -> box.left.x_other", "right.v -> box.left.v_other"]
        starts = {name: value for name, value in MASSES.items() if name.startswith("right")}
        master = 'algorithm = "jacobi"\nstep = 0.01\nuntil = 0.3'
        outer = scenario(tmp_path, parts, links, master, starts)
        found = CoSimulation.from_file(outer).simulate()
        assert found["right.x"].tobytes() == flat["right.x"].tobytes()
        assert found["box.left.x"].tobytes() == flat["left.x"].tobytes()
        assert found.coupling.verdict == flat.coupling.verdict
        # a container in a container
        again = exported(outer)
        with running(again) as host:
            host.step(0.0, 0.2)
            assert host["right.x"] == flat["right.x"][20]
            saved = host.slave.getFMUstate()
            host.step(0.2, 0.1)
            end = host["right.x"], host["box.left.x"]
            host.slave.setFMUstate(saved)
            host.step(0.2, 0.1)
            assert (host["right.x"], host["box.left.x"]) == end == (flat["right.x"][30], flat["left.x"][30])

    @pytest.mark.thorough
    def test_an_iterating_master_takes_it_back(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        make_fmu("mass")
        starts = {name: value for name, value in MASSES.items() if name.startswith("left")}
        exported(scenario(tmp_path, {"left": 'fmu = "mass.fmu"'}, [], starts=starts)).rename(
            tmp_path / "left.fmu"
        )
        parts = {"box": 'fmu = "left.fmu"', "right": 'fmu = "mass.fmu"'}
        links = ["box.left.force -> right.f", "right.x -> box.left.x_other", "right.v -> box.left.v_other"]
        starts = {name: value for name, value in MASSES.items() if name.startswith("right")}
        master = 'algorithm = "waveform_iteration"\nstep = 0.01\nuntil = 0.3'
        found = CoSimulation.from_file(scenario(tmp_path, parts, links, master, starts)).simulate()
        flat = CoSimulation.from_file(masses(tmp_path, make_fmu, master[: master.index("step")])).simulate()
        assert found["right.x"].tobytes() == flat["right.x"].tobytes()


@pytest.mark.thorough
def test_it_brings_an_experiment(tmp_path: Path) -> None:
    """Without the error of the coupling, which is worked out when it is read."""
    path = write_loop(tmp_path)
    whole = CoSimulation.from_file(path).simulate()
    folder = FmuArchive(exported(path, "--quiet")).unpack()
    try:
        (found,), faults = read_experiments(folder)
    finally:
        remove_folder(folder)
    assert faults == [] and found["stop"] == 500.0
    assert sorted(found["references"]) == ["controller.heat", "room.temperature", "time"]
    assert found["references"]["room.temperature"] == whole["room.temperature"][:51].tolist()
    folder = FmuArchive(exported(path)).unpack()
    try:
        assert read_experiments(folder) == ([], [])
    finally:
        remove_folder(folder)


def test_a_scenario_with_faults_is_no_fmu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario(tmp_path, {"one": 'fmu = "missing.fmu"'}, [])
    assert main(["export", str(path), "-o", str(tmp_path / "x.fmu")]) != 0
    assert "missing.fmu: no such file" in capsys.readouterr().err
    assert not (tmp_path / "x.fmu").exists()


def test_the_same_scenario_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    path = write_loop(tmp_path)
    assert exported(path).read_bytes() == exported(path).read_bytes()


def test_units_of_its_participants(tmp_path: Path, make_fmu: MakeFmu) -> None:
    """Those that are no unit expressions mean what the participant says."""
    units = '<Unit name="lbf"><BaseUnit kg="1" m="1" s="-2" factor="4.4482216152605"/></Unit>'
    make_fmu("mass", units=units, change=lambda name, told: told | ({"unit": "lbf"} if name == "f" else {}))
    fmu = exported(scenario(tmp_path, {"one": 'fmu = "mass.fmu"'}, []))
    description = fmpy.read_model_description(str(fmu), validate=True)
    units_of = {v.name: v.unit for v in description.modelVariables}
    assert (units_of["one.x"], units_of["one.f"], units_of["coupling.error"]) == ("m", "lbf", None)
    (found,) = (u for u in description.unitDefinitions if u.name == "lbf")
    assert (found.baseUnit.kg, found.baseUnit.s, found.baseUnit.factor) == (1, -2, 4.4482216152605)


def test_a_participant_has_no_reserved_name(tmp_path: Path, make_fmu: MakeFmu) -> None:
    make_fmu("gain")
    path = scenario(tmp_path, {"coupling": 'fmu = "gain.fmu"'}, [])
    assert main(["export", str(path), "-o", str(tmp_path / "x.fmu"), "-q"]) != 0


@pytest.mark.thorough
@pytest.mark.parametrize("client", ["libcosim", "ecos"])
@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "--python") for name in SCENARIOS]
    + [pytest.param(name, "--native", marks=needs_compiler) for name in MASTERS],
)
def test_the_same_bits_in(
    client: str, name: str, kind: str, tmp_path: Path, make_fmu: MakeFmu, compiled: Callable[..., Path]
) -> None:
    """Scenarios in two other tools; a parameter that they set has the value that it had."""
    path = SCENARIOS[name](tmp_path, make_fmu, compiled)
    loop = CoSimulation.from_file(path)
    fmu = exported(path, kind=kind)
    reals = [v for v in fmpy.read_model_description(str(fmu)).modelVariables if v.type == "Real"]
    given = next(v for v in reals if v.causality in ("parameter", "input") and v.start is not None)
    outputs = [v for v in reals if v.causality == "output" and not v.name.startswith("coupling.")]
    environment, script, _, by_reference, _ = CLIENTS[client]
    step = round(loop.step * 10**9) if client == "libcosim" else loop.step
    first, *others = (v.valueReference if by_reference else v.name for v in (given, *outputs))
    site = Path(fmpy.__file__).parents[1]  # what these environments lack
    words = [fmu, site, 20, step, first, given.start, *others]
    tools = peers()
    try:
        found = tools.run_peer(environment, f"fmu/{script}", [str(word) for word in words])
    except tools.PeerError as error:
        if "install" in str(error) or "libtbb" in str(error):
            pytest.skip(f"{client} cannot be installed here (ecos needs Debian's libtbb12): {error}")
        raise
    whole = loop.simulate(21 * loop.step)
    places = {round(time, 9): i for i, time in enumerate(whole.time)}
    rows = [places[round((i + 1) * loop.step, 9)] for i in range(20)]
    assert found["rows"] == [[whole[v.name][i] for v in outputs] for i in rows]


CARRIED = """
from importlib.machinery import PathFinder
class Carried:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("cosim") and "." not in name and not name.startswith("cosim_slave"):
            found = PathFinder.find_spec(name, [p for p in sys.path if "resources" in p])
            if found is None:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            return found
        return None
sys.meta_path.insert(0, Carried())
fmu, folder = start(sys.argv[1], messages)
assert fmu is not None, messages
fmu.doStep(0.0, 600.0)
import cosim
print(json.dumps([fmu.getReal([int(sys.argv[2])]), str(folder) in cosim.__file__]))
"""


@pytest.mark.thorough
def test_it_runs_on_the_packages_that_it_carries(tmp_path: Path) -> None:
    """They are packed as for one model, which `test_export_processes` has in a short run too."""
    path = write_loop(tmp_path)
    fmu = exported(path)
    variables = fmpy.read_model_description(str(fmu)).modelVariables
    reference = next(v.valueReference for v in variables if v.name == "room.temperature")
    found, is_carried = python(CARRIED, fmu, reference)
    whole = CoSimulation.from_file(path).simulate()
    assert found == [whole["room.temperature"][60]] and is_carried
