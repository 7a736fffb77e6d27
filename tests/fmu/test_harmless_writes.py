"""A variable may be set to the value that it has at any time, and to others where FMI allows it."""

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
NEW_VALUES = {
    **{"part.rate": 5.0, "part.is_on": False, "part.times": 4, "part.law": 2},
    **{"part.target": 3.0, "part.x": 0.5, "part.ticks": 7},
    **{"hinge.frame_on_parent.position[1]": 0.125, "hinge.frame_on_parent.angles[1]": 0.5},
}
FRAME = "hinge.frame_on_parent"
BEFORE_START = {"part.x", "part.ticks", f"{FRAME}.position[1]", f"{FRAME}.angles[1]"}
LATER_VALUES = {"part.rate": 6.0, "part.is_on": True, "part.times": 5, "part.law": 1, "part.target": 4.0}
CONTINUOUS_VARIABLES = {"part.rate", "part.target", "part.x"}


def rig() -> cosim.Model:
    """A rod on a pin with a tilted frame, and a component with variables of all types."""
    model = Multibody("rig", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=2.0, center_of_mass=(0.3, 0, 0), inertia=(0.1, 0.2, 0.2))
    model.joint("pin", child=rod, name="hinge", frame_on_parent={"angles": ["80 deg", "3 deg", 0]})
    model.add(Settable, "part", rate=2.0, is_on=True, times=3, law="plain")
    return model


@pytest.fixture(scope="module")
def fmus() -> dict[tuple[str, int], Path]:
    """The FMUs that `exported` has written, by kind and version of FMI."""
    return {}


def exported(kind: str, version: int, fmus: dict[tuple[str, int], Path], folder: Path) -> Path:
    """The FMU of a kind, exported once, with the variables that the model names; frames are fixed then."""
    if (kind, version) not in fmus:
        path = folder / f"{kind}{version}.fmu"
        fmus[kind, version] = (
            export(rig(), path, all=False)
            if kind == "python"
            else export_native(rig(), path, all=False, fmi=version)
        )
    return fmus[kind, version]


def settable_variables(fmu: Fmu) -> dict[str, Any]:
    """The variables that can be set at some time."""
    return {
        v.name: v
        for v in fmu.description.modelVariables
        if v.causality in ("input", "parameter") or v.initial == "exact"
    }


class FmuWithEnumerations(Fmu):
    """An instance whose enumerations are read and set as integers."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.types = {n: {"Enumeration": "Integer"}.get(t, t) for n, t in self.types.items()}

    def accepts(self, name: str, value: Any) -> bool:
        """Set a variable; return whether that is allowed."""
        from fmpy.fmi1 import FMICallException

        try:
            self[name] = value
        except FMICallException:
            return False
        return True


class ContinuousFmu:
    """An instance of an FMU for Model Exchange in continuous-time mode."""

    def __init__(self, path: Path, version: int, folder: Path) -> None:
        from fmpy import extract, read_model_description
        from fmpy.fmi2 import FMU2Model
        from fmpy.fmi3 import FMU3Model

        description = read_model_description(str(path))
        self.variables = {
            v.name: v
            for v in description.modelVariables
            if not v.dimensions and (v.causality in ("input", "parameter") or v.initial == "exact")
        }
        self.types = {"Enumeration": "Integer" if version == 2 else "Int64"}
        self.model = (FMU2Model if version == 2 else FMU3Model)(
            guid=description.guid,
            unzipDirectory=extract(str(path), str(folder)),
            modelIdentifier=description.modelExchange.modelIdentifier,
            instanceName="one",
        )
        self.model.instantiate()
        if version == 2:
            self.model.setupExperiment()
        self.model.enterInitializationMode()
        self.model.exitInitializationMode()
        while (self.model.newDiscreteStates if version == 2 else self.model.updateDiscreteStates)()[0]:
            pass
        self.model.enterContinuousTimeMode()

    def _access(self, verb: str, name: str, *values: Any) -> Any:
        variable = self.variables[name]
        type_ = self.types.get(variable.type, variable.type)
        return getattr(self.model, f"{verb}{type_}")([variable.valueReference], *values)

    def __getitem__(self, name: str) -> Any:
        return self._access("get", name)[0]

    def accepts(self, name: str, value: Any) -> bool:
        """Set a variable; return whether that is allowed."""
        from fmpy.fmi1 import FMICallException

        try:
            self._access("set", name, [value])
        except FMICallException:
            return False
        return True

    def to_bytes(self) -> Any:
        return self.model.serializeFMUState(self.model.getFMUState())


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
def test_in_co_simulation_values_are_set_before_in_and_after_a_run(
    kind: str, fmus: dict[tuple[str, int], Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = exported(kind, 2, fmus, tmp_path_factory.mktemp("rigs"))
    fmu = FmuWithEnumerations(path)
    try:
        names = settable_variables(fmu)
        assert set(NEW_VALUES) <= set(names)
        assert names["hinge.frame_on_parent.angles[3]"].variability == "fixed"
        for phase in ("instantiated", "running", "ended"):
            if phase == "running":
                fmu.start()
                fmu.steps(0, 3)
            if phase == "ended":
                fmu.slave.terminate()
            # present values change nothing
            before = fmu.slave.serializeFMUState(fmu.slave.getFMUState())
            for name in names:
                assert fmu.accepts(name, fmu[name]), (phase, name)
            assert fmu.messages == []
            assert fmu.slave.serializeFMUState(fmu.slave.getFMUState()) == before
            # new values are accepted if they may change in this phase
            if phase == "running":
                accepted = {name for name, value in NEW_VALUES.items() if fmu.accepts(name, value)}
                assert accepted == set(NEW_VALUES) - BEFORE_START
            if phase == "ended":
                assert not any(fmu.accepts(n, value) for n, value in {**NEW_VALUES, **LATER_VALUES}.items())
                assert "part.x: not allowed" in "\n".join(fmu.messages)
            fmu.messages.clear()
    finally:
        fmu.close()


@needs_compiler
@pytest.mark.parametrize("version", [2, 3])
def test_in_continuous_time_mode_only_continuous_variables_are_set_to_new_values(
    version: int, fmus: dict[tuple[str, int], Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("rigs")
    fmu = ContinuousFmu(exported("native", version, fmus, folder), version, folder / "unpacked")
    try:
        assert {n for n in NEW_VALUES if "frame" not in n} <= set(fmu.variables)
        # present values change nothing
        before = fmu.to_bytes()
        for name in fmu.variables:
            assert fmu.accepts(name, fmu[name]), name
        assert fmu.to_bytes() == before
        # new values are accepted for continuous variables, and outputs follow them
        new_values = {name: value for name, value in NEW_VALUES.items() if name in fmu.variables}
        assert {
            name for name, value in new_values.items() if fmu.accepts(name, value)
        } == CONTINUOUS_VARIABLES
        assert fmu["part.out" if "part.out" in fmu.variables else "part.x"] in (0.5, 1.0)
        # after the end only present values are accepted
        fmu.model.terminate()
        for name in fmu.variables:
            assert fmu.accepts(name, fmu[name]), name
        later_values = {**new_values, "part.rate": 6.0, "part.target": 4.0, "part.x": 0.75}
        assert not any(fmu.accepts(name, value) for name, value in later_values.items())
    finally:
        fmu.model.freeInstance()
