"""A participant in an FMU without Python: a system that is linked in, or an FMU that travels."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import cosim
from cosim.kit import ARRAYS, ParticipantDescription
from cosim_export.interface.fmu_interface import FmuInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.native.model_tables import ROLES, c_real, c_table, c_text, here
from cosim_fmu.co_simulation import CoSimulation
from cosim_lowering.program import Program
from cosim_master.participants.fmu_participant import FmuParticipant
from cosim_master.participants.system_participant import ACCURACY, SystemParticipant

TYPES = {"real": "Real", "integer": "Integer", "boolean": "Boolean"}
"""Of a participant's variables, as FMI calls them."""
C_TYPES = {"Real": "REAL", "Integer": "INTEGER", "Boolean": "BOOLEAN", "Enumeration": "INTEGER"}
"""These as the shell calls them."""


@dataclass
class NativeMember:
    """One of the participants.

    Attributes
    ----------
    name : str
    prefix : str
        With it begin the names in C of a system's model and of its entry points.
    description : ParticipantDescription
    starts : dict of str to object
        Start values of the scenario.
    accuracy : float
        Of a system.
    takes_tolerance : bool
        Whether that is the tolerance of the host, where it has one.
    system : SystemParticipant or None
    program : Program or None
        Of a system.
    fmu : FmuParticipant or None
    tolerance : float or None
        Of an FMU.
    variables : list of FmuVariable
        Those of a system that are set or read; their places are value references.
    inputs, outputs : list of str
        What is connected, and what is read.
    set_by_host : set of str
    """

    name: str
    prefix: str
    description: ParticipantDescription
    starts: dict[str, Any]
    accuracy: float = ACCURACY
    takes_tolerance: bool = False
    system: SystemParticipant | None = None
    program: Program | None = None
    fmu: FmuParticipant | None = None
    tolerance: float | None = None
    variables: list[FmuVariable] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    set_by_host: set[str] = field(default_factory=set)
    _places: dict[tuple[str, bool], int] = field(default_factory=dict)

    @classmethod
    def of(cls, loop: CoSimulation, number: int, name: str) -> NativeMember:
        """The participant of this name.

        Raises
        ------
        ModelError
            What of a system cannot run without Python.
        """
        participant, tolerance = loop.participants[name], loop.tolerances[name]
        given = name, f"cosim_member_{number}", loop.descriptions[name], loop.start_values[name]
        if isinstance(participant, FmuParticipant):
            own = loop.descriptions[name].default_experiment.tolerance
            return cls(*given, fmu=participant, tolerance=own if tolerance is None else tolerance)
        assert isinstance(participant, SystemParticipant)
        try:
            program, takes = participant.lowered(loop.start, loop.start_values[name], tolerance)
        except cosim.ModelError as error:
            problems = [cosim.Problem(f"participants.{name}.{p.where}", p.text) for p in error.problems]
            raise cosim.ModelError(problems) from None
        accuracy, takes = program.integrator.accuracy, takes and tolerance in (None, loop.tolerance)
        return cls(*given, accuracy, takes, participant, program)

    def reference(self, name: str, *, is_set: bool) -> int:
        """The value reference of a variable that is set or read."""
        if self.fmu is not None:
            return self.fmu.declared.elements[name].reference
        if (name, is_set) not in self._places:
            self._places[name, is_set] = len(self.variables)
            self.variables.append(self._settable(name) if is_set else self._readable(name))
        return self._places[name, is_set]

    def usual(self, name: str) -> float:
        """What a variable is unless it is set; NaN where it has to be set."""
        own = self.description.variables[name].start
        return math.nan if self.system is not None or name in self.starts or own is None else float(own)

    def type_of(self, name: str) -> str:
        """The type of a variable, in C.

        Raises
        ------
        ModelError
            Text and binary data.
        """
        kind = self.description.variables[name].type
        if kind not in TYPES:
            raise cosim.ModelError.of(f"{self.name}.{name}", f"{kind} is set and read in Python")
        return C_TYPES[TYPES[kind]]

    def _settable(self, name: str) -> FmuVariable:
        assert self.system is not None
        system, described = self.system.system, self.description.variables[name]
        slot, declared = system.written_slot(name), system.variables[name.partition("[")[0]]
        is_input = described.causality == "input"
        more = ("input", "continuous", "") if is_input else ("parameter", "tunable", "exact")
        place = name, slot.array, slot.offset, 0, TYPES[described.type]
        return FmuVariable(name, *place, *more, minimum=declared.minimum, maximum=declared.maximum)

    def _readable(self, name: str) -> FmuVariable:
        assert self.system is not None
        slot = self.system.system.signal(name).slot
        place = name, slot.array, slot.offset, 0, TYPES[self.description.variables[name].type]
        return FmuVariable(name, *place, "local", "continuous", "calculated")

    @property
    def interface(self) -> FmuInterface:
        """What of a system is set and read."""
        return FmuInterface(self.name, self.prefix, {}, tuple(self.variables), "", {}, self.accuracy)

    def arrays(self, *, copied: bool) -> list[str]:
        """The arrays of a system, or others that take a copy of them, as rows of C."""
        rows: list[str] = []
        for name, _, role in ARRAYS if self.program is not None else ():
            assert self.program is not None
            array = self.program.arrays[name]
            columns = array.shape[1] if array.ndim == 2 else 1
            kind = "SCRATCH" if copied and role != "constant" else ROLES[role]
            cells = c_text(f"{self.name}.{name}"), "NULL", len(array), columns, kind, int(name == "h")
            rows.append(f"{{{', '.join(map(str, cells))}}}")
        return rows

    @property
    def room(self) -> int:
        """Words that a system needs for the length of a call; as ``make_instance`` has it."""
        if self.program is None:
            return 0
        marks = sum(self.program.arrays[name].size for name in ("p", "times", "places"))
        return 6 * (len(self.variables) + 1) + 16 + marks

    def tables(self, number: int) -> Iterator[str]:
        """What the shell knows of its variables, and of an FMU."""
        for kind, names in (("inputs", self.inputs), ("outputs", self.outputs)):
            references = (str(self.reference(name, is_set=kind == "inputs")) for name in names)
            yield c_table("uint32_t", f"{kind}_{number}", references)
        if self.fmu is None:
            return
        yield c_table("int64_t", f"input_types_{number}", map(self.type_of, self.inputs))
        yield c_table("int64_t", f"output_types_{number}", map(self.type_of, self.outputs))
        starts = [
            f"{{{self.reference(name, is_set=True)}, {self.type_of(name)}, {c_real(float(value))}}}"
            for name, value in self.starts.items()
            if name not in self.set_by_host
        ]
        yield c_table("ForeignStart", f"starts_{number}", starts)
        declared = self.fmu.declared
        cells = [c_text(declared.guid), c_text(f"members/{number}"), c_text(declared.identifier)]
        cells += [str(int(self.tolerance is not None)), c_real(self.tolerance or 0.0)]
        cells += [here(f"input_types_{number}", self.inputs), here(f"output_types_{number}", self.outputs)]
        cells += [str(len(starts)), here(f"starts_{number}", starts)]
        yield f"static const ForeignUnit foreign_{number} = {{{', '.join(cells)}}};\n"

    def files(self, number: int, platforms: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """What of an FMU travels in the resources: its own ones, and binaries for these platforms.

        Raises
        ------
        ModelError
            It has no binaries for a platform.
        """
        if self.fmu is None:
            return
        folder = f"resources/members/{number}"
        yield f"{folder}/resources/.here", b""
        with zipfile.ZipFile(self.fmu.path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            for platform in platforms:
                if not any(name.startswith(f"binaries/{platform}/") for name in names):
                    text = f"has no binaries for {platform}"
                    raise cosim.ModelError.of(f"participants.{self.name}", text)
            wanted = ("resources/", *(f"binaries/{platform}/" for platform in platforms))
            for name in names:
                if name.startswith(wanted) or name == "modelDescription.xml":
                    yield f"{folder}/{name}", archive.read(name)
