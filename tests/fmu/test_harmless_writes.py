"""Writes that change nothing are taken at any time; evaluations in continuous-time mode begin anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from export_tools import Fmu, export
from native_tools import export_native, needs_compiler
from settable import Settable

import cosim
from cosim_mechanics import Multibody

KINDS = [pytest.param("python"), pytest.param("native", marks=needs_compiler)]
NEW = {
    **{"part.rate": 5.0, "part.is_on": False, "part.times": 4, "part.law": 2},
    **{"part.target": 3.0, "part.x": 0.5, "part.ticks": 7},
    **{"hinge.frame_on_parent.position[1]": 0.125, "hinge.frame_on_parent.angles[1]": 0.5},
}
FRAME = "hinge.frame_on_parent"
UNTIL_STARTED = {"part.x", "part.ticks", f"{FRAME}.position[1]", f"{FRAME}.angles[1]"}
LATER = {"part.rate": 6.0, "part.is_on": True, "part.times": 5, "part.law": 1, "part.target": 4.0}
CONTINUOUS = {"part.rate", "part.target", "part.x"}


def rig() -> cosim.Model:
    model = Multibody("rig", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=2.0, center_of_mass=(0.3, 0, 0), inertia=(0.1, 0.2, 0.2))
    model.joint("pin", child=rod, name="hinge", frame_on_parent={"angles": ["80 deg", "3 deg", 0]})
    model.add(Settable, "part", rate=2.0, is_on=True, times=3, law="plain")
    return model


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Path]:
    return {}


def written(kind: str, version: int, known: dict[tuple[str, int], Path], folder: Path) -> Path:
    """The FMU of a kind, made once, with what the model names: frames are fixed there."""
    if (kind, version) not in known:
        path = folder / f"{kind}{version}.fmu"
        known[kind, version] = (
            export(rig(), path, all=False)
            if kind == "python"
            else export_native(rig(), path, all=False, fmi=version)
        )
    return known[kind, version]


def settable(fmu: Fmu) -> dict[str, Any]:
    """All that can be set at some time."""
    return {
        v.name: v
        for v in fmu.description.modelVariables
        if v.causality in ("input", "parameter") or v.initial == "exact"
    }


class ByName(Fmu):
    """Enumerations are read and set as integers."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.types = {n: {"Enumeration": "Integer"}.get(t, t) for n, t in self.types.items()}

    def answer(self, name: str, value: Any) -> bool:
        """Whether a value is taken."""
        from fmpy.fmi1 import FMICallException

        try:
            self[name] = value
        except FMICallException:
            return False
        return True


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
def test_in_co_simulation_also_at_the_end(
    kind: str, paths: dict[tuple[str, int], Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = written(kind, 2, paths, tmp_path_factory.mktemp("rigs"))
    fmu = ByName(path)
    try:
        names = settable(fmu)
        assert set(NEW) <= set(names)
        assert names["hinge.frame_on_parent.angles[3]"].variability == "fixed"
        for when in ("instantiated", "running", "ended"):
            if when == "running":
                fmu.start()
                fmu.steps(0, 3)
            if when == "ended":
                fmu.slave.terminate()
            before = fmu.slave.serializeFMUState(fmu.slave.getFMUState())
            for name in names:
                assert fmu.answer(name, fmu[name]), (when, name)
            assert fmu.messages == []
            assert fmu.slave.serializeFMUState(fmu.slave.getFMUState()) == before
            if when == "running":
                assert {n for n, value in NEW.items() if fmu.answer(n, value)} == set(NEW) - UNTIL_STARTED
            if when == "ended":
                assert not any(fmu.answer(n, value) for n, value in {**NEW, **LATER}.items())
                assert "part.x: not allowed" in "\n".join(fmu.messages)
            fmu.messages.clear()
    finally:
        fmu.close()


@needs_compiler
@pytest.mark.parametrize("version", [2, 3])
def test_in_model_exchange(
    version: int, paths: dict[tuple[str, int], Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    from fmpy import extract, read_model_description
    from fmpy.fmi1 import FMICallException
    from fmpy.fmi2 import FMU2Model
    from fmpy.fmi3 import FMU3Model

    folder = tmp_path_factory.mktemp("rigs")
    path = written("native", version, paths, folder)
    description = read_model_description(str(path))
    arguments = {
        "guid": description.guid,
        "unzipDirectory": extract(str(path), str(folder / "unpacked")),
        "modelIdentifier": description.modelExchange.modelIdentifier,
        "instanceName": "one",
    }
    fmu = (FMU2Model if version == 2 else FMU3Model)(**arguments)
    fmu.instantiate()
    if version == 2:
        fmu.setupExperiment()
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    while (fmu.newDiscreteStates if version == 2 else fmu.updateDiscreteStates)()[0]:
        pass
    fmu.enterContinuousTimeMode()
    variables = {
        v.name: v
        for v in description.modelVariables
        if not v.dimensions and (v.causality in ("input", "parameter") or v.initial == "exact")
    }
    types = {"Enumeration": "Integer" if version == 2 else "Int64", "Real": "Real"}

    def access(what: str, name: str, *values: Any) -> Any:
        variable = variables[name]
        type_ = types.get(variable.type, variable.type)
        return getattr(fmu, f"{what}{type_}")([variable.valueReference], *values)

    def answer(name: str, value: Any) -> bool:
        try:
            access("set", name, [value])
        except FMICallException:
            return False
        return True

    try:
        assert {n for n in NEW if "frame" not in n} <= set(variables)
        state = fmu.getFMUState()
        before = fmu.serializeFMUState(state)
        for name in variables:
            assert answer(name, access("get", name)[0]), name
        after = fmu.getFMUState()
        assert fmu.serializeFMUState(after) == before
        taken = {n for n, value in NEW.items() if n in variables and answer(n, value)}
        assert taken == CONTINUOUS
        assert access("get", "part.out" if "part.out" in variables else "part.x")[0] in (0.5, 1.0)
        fmu.terminate()
        for name in variables:
            assert answer(name, access("get", name)[0]), name
        later = {**NEW, "part.rate": 6.0, "part.target": 4.0, "part.x": 0.75}
        assert not any(answer(name, value) for name, value in later.items() if name in variables)
    finally:
        fmu.freeInstance()
