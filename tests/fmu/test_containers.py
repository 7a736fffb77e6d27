"""The FMU of a whole scenario has the bits of the co-simulation in any host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import fmpy
import pytest
from scenario_files import write_loop
from scenario_fmus import MASSES, MASTERS, SCENARIOS, MakeFmu, exported, masses, running, scenario

from cosim.cli import main
from cosim.kit import remove_folder
from cosim_fmi.fmu_archive import FmuArchive
from cosim_fmi.validate.experiments import read_experiments
from cosim_fmu import CoSimulation


def assert_same_bits(path: Path, until: float | None = None, variant: str | None = None) -> int:
    """Compare the FMU of a scenario in fmpy with the co-simulation; return the number of compared values."""
    make = CoSimulation.from_ssp if path.suffix == ".ssp" else CoSimulation.from_file
    loop = make(path, variant)
    expected_result = loop.simulate(until)
    fmu = exported(path)
    description = fmpy.read_model_description(str(fmu), validate=True)
    variables = [v for v in description.modelVariables if v.causality == "output" and v.type != "String"]
    variables = [v for v in variables if not v.name.startswith("coupling.")]
    outputs = [v.name for v in variables]  # without strings, which fmpy does not record
    options = {"stop_time": until or loop.until, "output_interval": loop.step, "output": outputs}
    result = fmpy.simulate_fmu(str(fmu), **options)
    # of two rows at an event, the later one
    places = {round(time, 9): i for i, time in enumerate(expected_result.time)}
    count = 0
    for name in outputs:
        for time, value in zip(result["time"], result[name], strict=True):
            expected = expected_result[name][places[round(time, 9)]]
            assert value == expected or (value != value and expected != expected), (name, time)
            count += 1
    return count


COVERED_ELSEWHERE = (MASTERS[1], MASTERS[2], MASTERS[5])
"""A short run has these in other tests: in hosts, with another algorithm, and without Python."""


class TestSameBits:
    """The FMU of each scenario has the bits of its co-simulation."""

    @pytest.mark.few(3)
    @pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=[pytest.mark.thorough] * (name in COVERED_ELSEWHERE))
            for name in SCENARIOS
        ],
    )
    def test_scenario(
        self, name: str, tmp_path: Path, make_fmu: MakeFmu, compiled: Callable[..., Path]
    ) -> None:
        assert assert_same_bits(SCENARIOS[name](tmp_path, make_fmu, compiled)) > 20

    def test_all_types(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        make_fmu("types")
        parts = dict.fromkeys(("one", "two"), 'fmu = "types.fmu"')
        links = [f"one.{kind}_out -> two.{kind}_in" for kind in ("real", "integer", "boolean")]
        starts = {"one.real_in": 1.5, "one.integer_in": 7, "one.boolean_in": True, "one.string_in": "größer"}
        assert assert_same_bits(scenario(tmp_path, parts, links, starts=starts)) > 100

    def test_ssp(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        CoSimulation.from_file(masses(tmp_path, make_fmu, "")).to_ssp(tmp_path / "loop.ssp", 0.3)
        assert assert_same_bits(tmp_path / "loop.ssp") > 100


class TestNestedContainers:
    """The FMU of a scenario is a participant like others."""

    @pytest.mark.thorough
    def test_a_scenario_with_a_container_has_the_bits_of_a_flat_one(
        self, tmp_path: Path, make_fmu: MakeFmu
    ) -> None:
        flat = CoSimulation.from_file(masses(tmp_path, make_fmu, 'algorithm = "jacobi"')).simulate()
        starts = {name: value for name, value in MASSES.items() if name.startswith("left")}
        inner = scenario(tmp_path, {"left": 'fmu = "mass.fmu"'}, [], starts=starts)
        exported(inner).rename(tmp_path / "left.fmu")
        parts = {"box": 'fmu = "left.fmu"', "right": 'fmu = "mass.fmu"'}
        links = ["box.left.force -> right.f", "right.x -> box.left.x_other", "right.v -> box.left.v_other"]
        starts = {name: value for name, value in MASSES.items() if name.startswith("right")}
        master = 'algorithm = "jacobi"\nstep = 0.01\nuntil = 0.3'
        outer = scenario(tmp_path, parts, links, master, starts)
        result = CoSimulation.from_file(outer).simulate()
        assert result["right.x"].tobytes() == flat["right.x"].tobytes()
        assert result["box.left.x"].tobytes() == flat["left.x"].tobytes()
        assert result.coupling.verdict == flat.coupling.verdict
        # the container of a scenario with a container, also after rollback
        with running(exported(outer)) as fmu:
            fmu.step(0.0, 0.2)
            assert fmu["right.x"] == flat["right.x"][20]
            saved = fmu.slave.getFMUstate()
            for _ in range(2):
                fmu.step(0.2, 0.1)
                assert (fmu["right.x"], fmu["box.left.x"]) == (flat["right.x"][30], flat["left.x"][30])
                fmu.slave.setFMUstate(saved)

    @pytest.mark.thorough
    def test_an_iterating_algorithm_restores_a_container(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        make_fmu("mass")
        starts = {name: value for name, value in MASSES.items() if name.startswith("left")}
        exported(scenario(tmp_path, {"left": 'fmu = "mass.fmu"'}, [], starts=starts)).rename(
            tmp_path / "left.fmu"
        )
        parts = {"box": 'fmu = "left.fmu"', "right": 'fmu = "mass.fmu"'}
        links = ["box.left.force -> right.f", "right.x -> box.left.x_other", "right.v -> box.left.v_other"]
        starts = {name: value for name, value in MASSES.items() if name.startswith("right")}
        master = 'algorithm = "waveform_iteration"\nstep = 0.01\nuntil = 0.3'
        result = CoSimulation.from_file(scenario(tmp_path, parts, links, master, starts)).simulate()
        flat = CoSimulation.from_file(masses(tmp_path, make_fmu, master[: master.index("step")])).simulate()
        assert result["right.x"].tobytes() == flat["right.x"].tobytes()


@pytest.mark.thorough
def test_a_container_has_an_experiment_unless_it_is_switched_off(tmp_path: Path) -> None:
    """Its references do not include the error of the coupling, which is computed when it is read."""
    path = write_loop(tmp_path)
    whole = CoSimulation.from_file(path).simulate()
    folder = FmuArchive(exported(path, "--quiet")).unpack()
    try:
        (experiment,), faults = read_experiments(folder)
    finally:
        remove_folder(folder)
    assert faults == [] and experiment["stop"] == 500.0
    assert sorted(experiment["references"]) == ["controller.heat", "room.temperature", "time"]
    assert experiment["references"]["room.temperature"] == whole["room.temperature"][:51].tolist()
    folder = FmuArchive(exported(path)).unpack()
    try:
        assert read_experiments(folder) == ([], [])
    finally:
        remove_folder(folder)


def test_a_scenario_with_faults_is_not_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario(tmp_path, {"one": 'fmu = "missing.fmu"'}, [])
    assert main(["export", str(path), "-o", str(tmp_path / "x.fmu")]) != 0
    assert "missing.fmu: no such file" in capsys.readouterr().err
    assert not (tmp_path / "x.fmu").exists()


def test_two_exports_of_a_scenario_have_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    path = write_loop(tmp_path)
    assert exported(path).read_bytes() == exported(path).read_bytes()


def test_units_are_those_of_the_participants(tmp_path: Path, make_fmu: MakeFmu) -> None:
    """A unit that cosim does not know has the definition that the participant gives."""
    units = '<Unit name="lbf"><BaseUnit kg="1" m="1" s="-2" factor="4.4482216152605"/></Unit>'
    make_fmu("mass", units=units, change=lambda name, old: old | ({"unit": "lbf"} if name == "f" else {}))
    fmu = exported(scenario(tmp_path, {"one": 'fmu = "mass.fmu"'}, []))
    description = fmpy.read_model_description(str(fmu), validate=True)
    units_of = {v.name: v.unit for v in description.modelVariables}
    assert (units_of["one.x"], units_of["one.f"], units_of["coupling.error"]) == ("m", "lbf", None)
    (pound_force,) = (u for u in description.unitDefinitions if u.name == "lbf")
    base = pound_force.baseUnit
    assert (base.kg, base.s, base.factor) == (1, -2, 4.4482216152605)


def test_a_participant_with_a_reserved_name_is_refused(tmp_path: Path, make_fmu: MakeFmu) -> None:
    make_fmu("gain")
    path = scenario(tmp_path, {"coupling": 'fmu = "gain.fmu"'}, [])
    assert main(["export", str(path), "-o", str(tmp_path / "x.fmu"), "-q"]) != 0
