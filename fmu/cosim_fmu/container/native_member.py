"""A participant in an FMU without Python: a system that is linked in, or an FMU that travels."""

from __future__ import annotations

import math
import operator
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cosim
from cosim.kit import ARRAYS, ParticipantDescription
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.native.c_tables import c_real, c_table, c_text, name_or_null
from cosim_export.native.model_tables import ROLES
from cosim_export.native.platforms import Platform
from cosim_fmi.description.fmu_interface import FmuInterface as DeclaredFmu
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.scenario.scenario_conditions import Condition
from cosim_lowering.program import Program
from cosim_master.participants.fmu_participant import FmuParticipant
from cosim_master.participants.system_participant import ACCURACY, SystemParticipant
from cosim_master.participants.timed_changes import SEEN, TriggeredChanges
from cosim_master.participants.timed_inputs import EXTRAPOLATIONS, TimedInputs

TYPES = {"real": "Real", "integer": "Integer", "boolean": "Boolean"}
"""The types of a participant's variables in FMI."""
C_TYPES = {"Real": "REAL", "Integer": "INTEGER", "Boolean": "BOOLEAN", "Enumeration": "INTEGER"}
"""Types in the shell."""
FMI3_TYPES = {
    **{f"{sign}Int{bits}": f"{sign}INT{bits}" for bits in (8, 16, 32, 64) for sign in ("", "U")},
    **{"Float64": "FLOAT64", "Float32": "FLOAT32", "Boolean": "LOGICAL", "Enumeration": "INT64"},
}
"""The types of FMI 3.0 in the shell, for FMUs of others."""


@dataclass
class NativeMember:
    """A participant as a member of a native container.

    Attributes
    ----------
    name : str
    prefix : str
        With it begin the names in C of a system's model and of its entry points.
    description : ParticipantDescription
    starts : dict of str to object
        Start values of the scenario.
    accuracy : float
        The accuracy of a system.
    takes_tolerance : bool
        Whether that is the tolerance of the host, where it has one.
    system : SystemParticipant or None
    program : Program or None
        The program of a system.
    fmu : FmuParticipant or None
    series : TimedInputs or None
    tolerance : float or None
        The tolerance of an FMU.
    variables : list of FmuVariable
        Those of a system that are set or read; their places are value references.
    inputs, outputs : list of str
        The connected inputs, and the outputs that are read.
    set_by_host : list of str
        Parameters and inputs that the host sets.
    follows : bool
        Whether its inputs run along lines.
    first_number : int
        For values over time, the place of their first number in TIMES.
    """

    name: str
    prefix: str
    description: ParticipantDescription
    starts: Mapping[str, Any]
    accuracy: float = ACCURACY
    takes_tolerance: bool = False
    system: SystemParticipant | None = None
    program: Program | None = None
    fmu: FmuParticipant | None = None
    series: TimedInputs | None = None
    tolerance: float | None = None
    variables: list[FmuVariable] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    set_by_host: list[str] = field(default_factory=list)
    follows: bool = False
    first_number: int = 0
    _references: dict[tuple[str, bool], int] = field(default_factory=dict)

    @classmethod
    def of(cls, loop: CoSimulation, number: int, name: str) -> NativeMember:
        """The participant of this name.

        Raises
        ------
        ModelError
            Parts of a system that cannot run without Python.
        """
        participant, tolerance = loop.participants[name], loop.tolerances[name]
        if sized := sorted(set(loop.start_values[name]) & loop.descriptions[name].structural):
            raise cosim.ModelError.of(f"{name}.{sized[0]}", "a structural parameter is set in Python")
        identity = name, f"cosim_member_{number}", loop.descriptions[name], loop.start_values[name]
        if isinstance(participant, FmuParticipant):
            own = loop.descriptions[name].default_experiment.tolerance
            return cls(*identity, fmu=participant, tolerance=own if tolerance is None else tolerance)
        if isinstance(participant, TimedInputs):
            return cls(*identity, series=participant)
        assert isinstance(participant, SystemParticipant)
        try:
            program, takes = participant.lowered(loop.start, loop.start_values[name], tolerance)
        except cosim.ModelError as error:
            problems = [cosim.Problem(f"participants.{name}.{p.where}", p.text) for p in error.problems]
            raise cosim.ModelError(problems) from None
        accuracy, takes = program.integrator.accuracy, takes and tolerance in (None, loop.tolerance)
        return cls(*identity, accuracy, takes, participant, program)

    def assign_reference(self, name: str, *, is_set: bool) -> None:
        """Give a variable of a system the next value reference, unless it has one.

        Raises
        ------
        ModelError
            Types of which variables are set and read in Python.
        """
        self.type_of(name)
        if self.system is not None and (name, is_set) not in self._references:
            self._references[name, is_set] = len(self.variables)
            self.variables.append(self._settable(name) if is_set else self._readable(name))

    def assign_other_references(self) -> None:
        """Assign those of all connected variables, after the variables that the host reads and sets.

        Raises
        ------
        ModelError
            Types of which variables are set and read in Python, also those of start values.
        """
        for name in self.inputs:
            self.assign_reference(name, is_set=True)
        for name in self.outputs:
            self.assign_reference(name, is_set=False)
        for name in self.starts if self.fmu is not None else ():
            self.type_of(name)

    def reference(self, name: str, *, is_set: bool) -> int:
        """The value reference of a variable that is set or read; of a system, it has been assigned."""
        if self.fmu is not None:
            return self.fmu.declared.elements[name].reference
        if self.series is not None:
            return _seen(self.series).index(name) if is_set else list(self.series.series).index(name)
        return self._references[name, is_set]

    def usual(self, name: str) -> float:
        """The default of a variable; NaN if it has to be set."""
        own = self.description.variables[name].start
        return math.nan if self.system is not None or name in self.starts or own is None else float(own)

    def type_of(self, name: str) -> str:
        """The type of a variable, in C.

        Raises
        ------
        ModelError
            Text and binary data; an element of an array.
        """
        kind = self.description.variables[name].type
        if kind not in TYPES:
            raise cosim.ModelError.of(f"{self.name}.{name}", f"{kind} is set and read in Python")
        if self.fmu is None:
            return C_TYPES[TYPES[kind]]
        element = self.fmu.declared.elements[name]
        if element.size != 1:
            raise cosim.ModelError.of(
                f"{self.name}.{name}", "an element of an array is set and read in Python"
            )
        return FMI3_TYPES[element.type] if self.fmu.declared.version == "3.0" else C_TYPES[element.type]

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
    def interface(self) -> ExportedInterface:
        """The variables of a system that are set and read."""
        return ExportedInterface(self.name, self.prefix, {}, tuple(self.variables), "", {}, self.accuracy)

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
        """The tables of the shell for its variables, and for an FMU."""
        for kind, names in (("inputs", self.inputs), ("outputs", self.outputs)):
            references = (str(self.reference(name, is_set=kind == "inputs")) for name in names)
            yield c_table("uint32_t", f"{kind}_{number}", references)
        if self.fmu is not None:
            yield from self._fmu_tables(number, self.fmu.declared)
        if self.series is not None:
            yield from _series_tables(number, self.series, self.first_number)

    @property
    def number_count(self) -> int:
        """The count of changing numbers of values over time, with those that an algorithm goes back to."""
        if self.series is None:
            return 0
        triggers = self.series.triggers if isinstance(self.series, TriggeredChanges) else ()
        return 2 * (1 + len(_seen(self.series)) + len(triggers) + 2 * len(self.series.series))

    @property
    def calls(self) -> str:
        """The name in C of its functions; "NULL" for a system."""
        return "NULL" if self.program else "&cosim_series" if self.series else "&cosim_foreign"

    def _fmu_tables(self, number: int, declared: DeclaredFmu) -> Iterator[str]:
        yield c_table("int64_t", f"input_types_{number}", map(self.type_of, self.inputs))
        yield c_table("int64_t", f"output_types_{number}", map(self.type_of, self.outputs))
        starts = [
            f"{{{self.reference(name, is_set=True)}, {self.type_of(name)}, {c_real(float(value))}}}"
            for name, value in self.starts.items()
            if name not in self.set_by_host
        ]
        yield c_table("ForeignStart", f"starts_{number}", starts)
        # what is written in event mode, where there is one
        written = dict.fromkeys([*self.inputs, *self.set_by_host, *self.starts])
        discrete = [n for n in written if declared.has_event_mode and n in self.description.discrete]
        yield c_table(
            "uint32_t", f"discretes_{number}", (str(self.reference(n, is_set=True)) for n in discrete)
        )
        inside = sorted({self.reference(name, is_set=True) for name in declared.settable_inside})
        yield c_table("uint32_t", f"insides_{number}", map(str, inside))
        is_careful = any(name in discrete for name in self.inputs) or (bool(inside) and self.follows)
        cells = [declared.version[0], c_text(declared.guid), c_text(f"members/{number}")]
        cells += [c_text(declared.identifier), str(int(self.description.variable_step))]
        cells += [str(int(declared.has_event_mode)), str(int(is_careful))]
        cells += [str(len(discrete)), name_or_null(f"discretes_{number}", discrete)]
        cells += [str(len(inside)), name_or_null(f"insides_{number}", inside), str(len(self.inputs))]
        cells += [str(int(self.tolerance is not None)), c_real(self.tolerance or 0.0)]
        cells += [
            name_or_null(f"input_types_{number}", self.inputs),
            name_or_null(f"output_types_{number}", self.outputs),
        ]
        cells += [str(len(starts)), name_or_null(f"starts_{number}", starts)]
        yield f"static const ForeignUnit foreign_{number} = {{{', '.join(cells)}}};\n"

    def files(self, number: int, platforms: Sequence[Platform]) -> Iterator[tuple[str, bytes]]:
        """The files of an FMU in the resources: its own ones, and binaries for these platforms.

        Raises
        ------
        ModelError
            It has no binaries for a platform.
        """
        if self.fmu is None:
            return
        folder, is_third = f"resources/members/{number}", self.fmu.declared.version == "3.0"
        yield f"{folder}/resources/.here", b""
        with zipfile.ZipFile(self.fmu.path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            folders = [
                target.folder3 if is_third else platform.name
                for platform in platforms
                for target in (platform.targets if is_third else platform.targets[:1])
            ]
            for place in folders:
                if not any(name.startswith(f"binaries/{place}/") for name in names):
                    text = f"has no binaries for {place}"
                    raise cosim.ModelError.of(f"participants.{self.name}", text)
            wanted = ("resources/", *(f"binaries/{place}/" for place in folders))
            for name in names:
                if name.startswith(wanted) or name == "modelDescription.xml":
                    yield f"{folder}/{name}", archive.read(name)


BEYOND = dict(zip(EXTRAPOLATIONS, ("IS_KEPT", "GOES_ON", "IS_ERROR"), strict=True))


OPERATIONS = dict(
    zip(
        (operator.ge, operator.le, operator.eq, operator.ne, operator.gt, operator.lt),
        ("IS_LEAST", "IS_MOST", "IS_EQUAL", "IS_OTHER", "IS_ABOVE", "IS_BELOW"),
        strict=True,
    )
)


def _seen(series: TimedInputs) -> list[str]:
    """Inputs of values over time: what conditions read."""
    return [name for name, v in series.describe().variables.items() if v.causality == "input"]


def _series_tables(number: int, series: TimedInputs, first: int) -> Iterator[str]:
    """The values over time; those of a run that has begun, which contains the start values of changes."""
    rows = list[str]()
    for i, (name, (times, values)) in enumerate(series.series.items()):
        places = [f"times_{number}_{i}", f"values_{number}_{i}"]
        for place, column in zip(places, (times, values), strict=True):
            yield c_table("double", place, (c_real(float(x)) for x in column))
        cells = [str(len(times)), *places, str(int(series.is_linear(name))), BEYOND[series.extrapolation]]
        rows.append(f"{{{', '.join(cells)}}}")
    yield c_table("Signal", f"signals_{number}", rows)
    yield c_table("double", f"all_times_{number}", (c_real(float(x)) for x in series.all_times))
    seen, starts = _seen(series), series.describe().variables
    unset = [math.nan if starts[n].start is None else float(starts[n].start) for n in seen]
    yield c_table("double", f"seen_{number}", map(c_real, unset))
    triggers = series.triggers if isinstance(series, TriggeredChanges) else ()
    comparisons, changes = list[str](), list[str]()
    for i, trigger in enumerate(triggers):
        assert isinstance(trigger.condition, Condition)
        comparisons += _comparisons(trigger.condition, seen)
        for path, value in trigger.values.items():
            changes.append(f"{{{i}, {list(series.series).index(path)}, {c_real(float(value))}}}")
    yield c_table("Comparison", f"comparisons_{number}", comparisons)
    yield c_table("Change", f"changes_{number}", changes)
    cells = [
        str(first),
        str(len(rows)),
        f"signals_{number}",
        str(len(series.all_times)),
        f"all_times_{number}",
    ]
    cells += [str(len(seen)), name_or_null(f"seen_{number}", seen), str(len(triggers))]
    cells += [
        name_or_null(f"comparisons_{number}", comparisons),
        str(len(changes)),
        name_or_null(f"changes_{number}", changes),
    ]
    yield f"static const SeriesUnit series_{number} = {{{', '.join(cells)}}};\n"


def _comparisons(condition: Condition, seen: Sequence[str]) -> Iterator[str]:
    """The comparisons of a condition, as rows of C."""
    for i, alternative in enumerate(condition.alternatives):
        for j, each in enumerate(alternative):
            is_last = j + 1 == len(alternative)
            ends = 0 if not is_last else 2 if i + 1 == len(condition.alternatives) else 1
            other = seen.index(SEEN + each.other) if each.other else -1
            cells = [seen.index(SEEN + each.path), OPERATIONS[each.compare], other]
            number = c_real(0.0 if each.other else float(each.value))
            yield f"{{{', '.join(map(str, cells))}, {number}, {ends}}}"
