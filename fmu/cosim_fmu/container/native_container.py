"""A co-simulation of systems of ours as C files and machine code, for an FMU without Python."""

from __future__ import annotations

import math
import uuid
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ARRAYS, ParticipantDescription, lower, records
from cosim_export.interface.fmu_interface import FmuInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.native.description import describe
from cosim_export.native.history_room import history_room
from cosim_export.native.model_tables import (
    ENTRY_POINTS,
    RAISED,
    ROLES,
    c_real,
    c_start,
    c_table,
    c_text,
    discretes,
    here,
    model_structure,
    model_tables,
    variable_tables,
)
from cosim_export.native.native_sources import COMMON, SHELL
from cosim_export.native.source_files import compiled_files, source_files
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.container.container_interface import COUPLING
from cosim_lowering.c_program import CProgram, plain_functions_in_c
from cosim_lowering.linking import machine_code
from cosim_lowering.machine_code import MachineCode
from cosim_lowering.program import Program
from cosim_master.exchange.exchange_algorithms import ExchangePrograms
from cosim_master.exchange.exchange_arrays import Algorithm, Machine, Progress
from cosim_master.exchange.lead_exchanges import LEADING
from cosim_master.exchange.run_exchanges import EXCHANGING
from cosim_master.participants.fmu_participant import FmuParticipant
from cosim_master.participants.system_participant import ACCURACY, SystemParticipant
from cosim_master.run.stepped_run import SteppedRun, can_divide
from cosim_master.start.initialize_participants import passing_order

Vector = NDArray[np.generic]
MEMBER_WORDS, MESSAGE_WORDS, LIFE_WORDS, ROWS = 64, 256, 9, 32
STOPS = (
    *("it failed", "its inputs could not be set", "its step failed", "its outputs could not be read"),
    "an input gets a value that it does not take, such as one that is not finite: the exchange may be unstable",
    *("its step was left", "the slopes of its inputs could not be set", "its state could not be saved"),
    "its state could not be restored",
    "the exchange did not settle: take a smaller step, or another algorithm",
    "it could not be initialized",
)
"""What has stopped the interpreter, by its code (`run_exchanges`)."""
OWN = (
    *("parameters", "inputs", "shown", "clock", "places", "growing", "whole", "numbers", "handed", "written"),
    *("lives", "members", "room", "message", "foreign", "head", "before", "after", "order"),
)
"""Arrays before those of the interpreter, in the order of ``container.h``."""
SAVED = frozenset(
    (
        *("parameters", "inputs", "clock", "handed", "written", "lives"),
        *("machine.inputs", "machine.outputs", "machine.answer_words", "machine.step_time_words"),
        *("machine.report_words", "machine.clock_words"),
        *("algorithm.counts", "algorithm.numbers", "algorithm.table", "algorithm.progress_words"),
    )
)


def native_refusals(loop: CoSimulation, *, sources: bool = False) -> list[cosim.Problem]:
    """Why the FMU of a co-simulation needs Python; empty where it needs none.

    Parameters
    ----------
    loop : CoSimulation
    sources : bool
        Whether all of it has to be C.
    """
    problems = [
        cosim.Problem(f"participants.{name}", why)
        for name, participant in loop.participants.items()
        if (why := _why_python(participant, loop.descriptions[name], sources))
    ]
    if loop.joint is not None or loop.algorithm is None:
        problems.append(cosim.Problem("master.algorithm", "solves participants jointly, in Python"))
    problems += [cosim.Problem(str(link.input), "a parameter is connected") for link in loop.parameter_links]
    problems += [
        cosim.Problem(f"{link.target}.{link.input}", "a parameter that changes is written in Python")
        for link in loop.links
        if loop.descriptions[link.target].variables[link.input].causality != "input"
    ]
    if loop.derived:
        problems.append(
            cosim.Problem("connectors", "outputs of a system's own connectors are made in Python")
        )
    for initializing in (True, False):
        for _, path in passing_order(loop.descriptions, loop.links, initializing=initializing):
            if path:
                text = "is a closed loop of direct feedthrough, whose first values are found in Python"
                problems.append(cosim.Problem(" -> ".join(map(".".join, path)), text))
    return list({(each.where, each.text): each for each in problems}.values())


def _why_python(participant: Any, description: ParticipantDescription, sources: bool) -> str:
    """Why a participant is led by Python; "" where none is needed."""
    if type(participant) is SystemParticipant:
        return ""
    if type(participant) is not FmuParticipant:
        return f"a {description.kind}, which runs in Python"
    if sources:
        return "an FMU, which is no C source"
    why: str = participant.why_not_plain()
    return why


@dataclass
class _Member:
    """A system that is linked in, or an FMU that travels in the resources."""

    name: str
    prefix: str
    accuracy: float = ACCURACY
    takes_tolerance: bool = False
    system: Program | None = None
    fmu: FmuParticipant | None = None
    tolerance: float | None = None
    variables: list[FmuVariable] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    input_types: list[str] = field(default_factory=list)
    output_types: list[str] = field(default_factory=list)
    starts: list[str] = field(default_factory=list)
    places: dict[tuple[str, bool], int] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        """Of a system."""
        assert self.system is not None
        return self.system

    def reference(self, path: str, variable: FmuVariable) -> int:
        """The value reference of a variable, which is listed if it is not yet."""
        if self.fmu is not None:
            return variable.offset
        key = path, variable.is_settable
        if key not in self.places:
            self.places[key] = len(self.variables)
            self.variables.append(replace(variable, name=path))
        return self.places[key]


class NativeContainer:
    """A co-simulation whose participants are systems of ours, as what the libraries of an FMU are built from.

    The shell is that of native FMUs of models, to which it is a model: its arrays are those of the interpreter
    of exchanges (`exchange_arrays`) and of all systems. The functions are those that `cosim cosimulate` calls.

    Parameters
    ----------
    loop : CoSimulation
    interface : FmuInterface
        From `container_interface`; the error of the coupling is left out.
    version : int
        Of FMI: 2 or 3.
    has_library : bool
        Whether its functions are compiled for shared libraries.
    history_entries : int, optional
        They are printed as C; so many values of a signal can be remembered for each that is.

    Attributes
    ----------
    texts : list of str
        Parameters and inputs that are text: they stay as they are.
    codes : list of MachineCode
    generated : dict of str to str
        C files by name.
    files : list of Path
    description, terminals, printed
        As of `NativeSources`.

    Raises
    ------
    ModelError
        What of it runs in Python alone, each with the reason.
    """

    terminals: bytes | None = None

    def __init__(
        self,
        loop: CoSimulation,
        interface: FmuInterface,
        version: int,
        has_library: bool = True,
        history_entries: int | None = None,
    ) -> None:
        loop.settle_order()
        if problems := native_refusals(loop):
            raise cosim.ModelError(problems)
        self.version = version
        shown = tuple(
            replace(v, array={"input": "d", "parameter": "p"}.get(v.causality, "c"))
            for v in interface.variables
            if not v.name.startswith(f"{COUPLING}.")
        )
        for v in shown:
            name, _, variable = v.path.partition(".")
            if v.type == "String" and (not v.is_settable or variable in loop.start_values.get(name, ())):
                raise cosim.ModelError.of(v.name, "text is set and read in Python")
        self.texts = [v.name for v in shown if v.type == "String"]
        shown = tuple(v for v in shown if v.type != "String")
        self._members = [self._member(loop, i, name) for i, name in enumerate(loop.participants)]
        self._systems = [member for member in self._members if member.system is not None]
        self.accuracy = next((m.accuracy for m in self._members if m.takes_tolerance), ACCURACY)
        run = loop.led_run()
        run.begin()
        try:
            self._take(loop, run, shown)
        finally:
            run.close()
        self.has_fmus = len(self._systems) < len(self._members)
        self._divides, descriptions = can_divide(loop), loop.descriptions.values()
        able = {
            "canHandleVariableCommunicationStepSize": self._divides,
            "canBeInstantiatedOnlyOncePerProcess": any(each.only_once for each in descriptions),
            "canGetAndSetFMUstate": all(each.can_restore for each in descriptions),
            "canSerializeFMUstate": not self.has_fmus,
        }
        texts = {name: str(value).lower() for name, value in able.items()}
        if version == 3:
            texts = {name.replace("FMUstate", "FMUState"): value for name, value in texts.items()}
        self._abilities = {**ABILITIES[version], **texts}
        accuracy = self.accuracy if any(m.takes_tolerance for m in self._members) else None
        self.interface = replace(interface, variables=shown, accuracy=accuracy)
        functions = {f"cosim_{name}": entry for name, entry in LEADING.items()}
        self.codes = [MachineCode([lower(functions)], list(functions))] if has_library else []
        self.generated = dict[str, str]()
        printed, names = dict[str, str](), list[str]()
        self._room_of_histories = 0
        for i, member in enumerate(self._systems):
            present = [name for name in ENTRY_POINTS if f"lowered_{name}" in member.program.functions]
            made = member.program, present, RAISED, member.prefix
            room = 0
            if has_library:
                self.codes.append(machine_code(*made))
            if history_entries is not None:
                room = history_room(member.program, history_entries)
                printed[f"member_{i}_code.c"] = CProgram(*made).text
                names += [f"{member.prefix}_{name}" for name in ("model", *present)]
            self._room_of_histories = max(room, self._room_of_histories)
            self.generated[f"member_{i}.c"] = model_tables(
                *(member.program, self._interface_of(member), ["cs"], 2, room, "", bytes(16), member.prefix)
            )
        if history_entries is not None:
            printed["interpreter.c"] = '#include "names.h"\n\n' + plain_functions_in_c(functions)
        more = ("foreign",) if self.has_fmus else ()
        self.files = [SHELL / f"{name}.c" for name in (*COMMON, "container", *more, f"fmi{version}")]
        self._units = compiled_files(
            [*(file.name for file in self.files), *self.generated, "model.c", *printed] if printed else []
        )
        digest = sha256(
            "\0".join(
                [
                    *map(str, self.codes),
                    *printed.values(),
                    *self.generated.values(),
                    self._tables("", bytes(16)),
                    self._describe("").decode(),
                    *(file.read_text("utf-8") for file in sorted(SHELL.glob("*.[ch]"))),
                ]
            ).encode()
        ).digest()[:16]
        token = str(uuid.UUID(bytes=digest))
        self.token = f"{{{token}}}" if version == 2 else token
        self.generated["model.c"] = self._tables(self.token, digest)
        self.description = self._describe(self.token)
        self.printed = dict[str, bytes]()
        if printed:
            texts, identifier = {**self.generated, **printed}, self.interface.identifier
            self.printed = source_files(
                SHELL, self.files, identifier, version, texts, [*names, "cosim_container"]
            )

    def resources(self, platforms: Sequence[str]) -> dict[str, bytes]:
        """What travels in the resources: FMUs of others, unpacked, with their binaries for these platforms.

        Raises
        ------
        ModelError
            One has no binary for a platform.
        """
        found: dict[str, bytes] = {}
        for i, member in enumerate(self._members):
            if member.fmu is None:
                continue
            folder = f"resources/members/{i}"
            with zipfile.ZipFile(member.fmu.path) as archive:
                names = [name for name in archive.namelist() if not name.endswith("/")]
                for platform in platforms:
                    if not any(name.startswith(f"binaries/{platform}/") for name in names):
                        text = f"has no binaries for {platform}"
                        raise cosim.ModelError.of(f"participants.{member.name}", text)
                wanted = tuple(["resources/", *(f"binaries/{platform}/" for platform in platforms)])
                for name in names:
                    if name.startswith(wanted) or name == "modelDescription.xml":
                        found[f"{folder}/{name}"] = archive.read(name)
                found.setdefault(f"{folder}/resources/.here", b"")
        return found

    def _member(self, loop: CoSimulation, number: int, name: str) -> _Member:
        participant = loop.participants[name]
        tolerance, prefix = loop.tolerances[name], f"cosim_member_{number}"
        if isinstance(participant, FmuParticipant):
            own = loop.descriptions[name].default_experiment.tolerance
            return _Member(name, prefix, fmu=participant, tolerance=own if tolerance is None else tolerance)
        assert isinstance(participant, SystemParticipant)
        try:
            program, takes = participant.lowered(loop.start, loop.start_values[name], tolerance)
        except cosim.ModelError as error:
            raise cosim.ModelError(
                [cosim.Problem(f"participants.{name}.{p.where}", p.text) for p in error.problems]
            ) from None
        takes = takes and tolerance in (None, loop.tolerance)
        return _Member(name, prefix, program.integrator.accuracy, takes, program)

    def _take(self, loop: CoSimulation, run: SteppedRun, shown: Sequence[FmuVariable]) -> None:
        """The arrays of a run that has begun, and what the host sets and reads of it."""
        coupled, machine = run.coupled, run.machine
        by_name = {member.name: member for member in self._members}
        settable = {
            causality: [v for v in shown if v.causality == causality] for causality in ("parameter", "input")
        }
        self._settings = [*settable["parameter"], *settable["input"]]
        self._parameters = len(settable["parameter"])
        self._outputs = [v for v in shown if not v.is_settable]
        places = {v.name: i for i, v in enumerate(self._settings)}
        setting_rows, output_rows, follows = [], [], list[str]()
        for v in self._settings:
            name, _, variable = v.path.partition(".")
            reference = by_name[name].reference(variable, self._settable(loop, name, variable))
            usual = math.nan
            if by_name[name].fmu is not None and variable not in loop.start_values[name]:
                own = loop.descriptions[name].variables[variable].start
                usual = math.nan if own is None else float(own)
            setting_rows.append(
                f"{{{machine.number[name]}, {reference}, {C_TYPES[v.type]}, {c_real(usual)}}}"
            )
        set_by_host = {v.path for v in self._settings}
        for member in self._members:
            for variable, value in loop.start_values[member.name].items() if member.fmu is not None else ():
                if f"{member.name}.{variable}" not in set_by_host:
                    member.starts.append(_start_of(member, loop, variable, value))
        outputs = list[int]()
        for name in machine.names:
            member = by_name[name]
            inputs, reads = coupled.input_names[name], coupled.reads[name]
            variables = loop.descriptions[name].variables
            if texts := [each for each in (*inputs, *reads) if variables[each].type not in TYPES]:
                raise cosim.ModelError.of(f"{name}.{texts[0]}", f"{variables[texts[0]].type} is read in Python")
            member.inputs = [member.reference(x, self._settable(loop, name, x)) for x in inputs]
            member.outputs = [member.reference(y, self._readable(loop, name, y)) for y in reads]
            outputs += member.outputs
            for types, names in ((member.input_types, inputs), (member.output_types, reads)):
                types += [C_TYPES[TYPES[variables[each].type]] for each in names]
        for i, v in enumerate(self._outputs):
            name, _, variable = v.path.partition(".")
            slot = machine.output_slot(name, list(coupled.reads[name]).index(variable))
            needs = [places[each] for each in v.dependencies if each in places]
            if needs:
                follows.append(c_table("int64_t", f"follows_{i}", map(str, needs)))
            row = f"{slot}, {machine.number[name]}, {outputs[slot]}, {C_TYPES[v.type]}, {len(needs)}"
            row += f", {here(f'follows_{i}', needs)}"
            output_rows.append(f"{{{row}}}")
        self._rows = [
            *follows,
            c_table("Setting", "settings", setting_rows),
            c_table("Output", "outputs", output_rows),
        ]
        programs = ExchangePrograms(run.algorithm, coupled)
        if programs.asked is not None:
            text = f"{type(programs.asked).__name__} decides in Python"
            raise cosim.ModelError.of("master.algorithm", text)
        self._goes_back = programs.saves_states
        self._follows = {name: programs.along and coupled.follows_lines(name) for name in machine.names}
        orders = [
            [
                number
                for ports, _ in passing_order(loop.descriptions, loop.links, initializing=initializing)
                for name, output in ports
                for number in (
                    machine.number[name],
                    machine.output_slot(name, list(coupled.reads[name]).index(output)),
                )
            ]
            for initializing in (True, False)
        ]
        self._arrays = self._all_arrays(run, orders)

    def _all_arrays(self, run: SteppedRun, orders: Sequence[list[int]]) -> dict[str, tuple[Vector, str]]:
        """The arrays of an instance by name, with their role; without those of members."""
        machine, coupled = run.machine, run.coupled
        starts = [float(v.start or 0.0) for v in self._settings]
        settings, members = len(starts), len(self._members)
        zeros: dict[str, int] = {"shown": len(self._outputs), "clock": 5, "numbers": 2, "handed": settings}
        zeros |= {"growing": 0}
        integers = {"places": 5, "whole": 0, "written": settings, "lives": LIFE_WORDS * members}
        integers |= {"members": MEMBER_WORDS * members, "room": self._room(), "message": MESSAGE_WORDS}
        integers |= {"head": 2 * len(Machine._fields), "foreign": 0}
        values: dict[str, Vector] = {name: np.zeros(size) for name, size in zeros.items()}
        values |= {name: np.zeros(size, dtype=np.int64) for name, size in integers.items()}
        values |= {
            "parameters": np.array(starts[: self._parameters]),
            "inputs": np.array(starts[self._parameters :]),
            "before": np.array(orders[0], dtype=np.int64),
            "after": np.array(orders[1], dtype=np.int64),
            "order": np.array([machine.number[name] for name in coupled.order], dtype=np.int64),
        }
        arrays = {name: values[name] for name in OWN}
        replaced: dict[str, Vector] = {
            "columns": np.zeros(0, dtype=np.int64),  # nothing is recorded
            "rows": np.zeros(2 * ROWS),
            "algorithm_words": np.zeros(2 * len(Algorithm._fields) * len(machine.algorithms), dtype=np.int64),
        }
        for name, part in zip(machine.names, machine.parts, strict=True):
            part.same_size = int(not coupled.descriptions[name].variable_step)
        for name, array in machine.arrays._asdict().items():
            arrays[f"machine.{name}"] = replaced.get(name, np.array(array))
        for i, algorithm in enumerate(machine.algorithms):
            progress = Progress(0, 0, -1)  # there is no Python that does anything in between
            fresh = {"progress_words": np.frombuffer(progress, dtype=np.int64)}
            for name, array in {**algorithm.arrays._asdict(), **fresh}.items():
                arrays[f"{i}.algorithm.{name}"] = np.array(array)
        for field_of_report in ("step", "noticed", "rows"):
            assert getattr(machine.report, field_of_report) == 0
        return {
            name: (array, _role_of(name.lstrip("0123456789").lstrip("."))) for name, array in arrays.items()
        }

    def _room(self) -> int:
        """Words that members need for the length of a call; as `make_instance` has it."""
        return max(
            (
                6 * (len(m.variables) + 1)
                + 16
                + sum(m.program.arrays[name].size for name in ("p", "times", "places"))
                for m in self._systems
            ),
            default=1,
        )

    def _settable(self, loop: CoSimulation, name: str, variable: str) -> FmuVariable:
        """A variable of a system that is set."""
        described = loop.descriptions[name].variables[variable]
        if isinstance(loop.participants[name], FmuParticipant):
            return _of_fmu(loop.participants[name], variable, described.type, "parameter")
        causality = "input" if described.causality == "input" else "parameter"
        system = loop.participants[name].system
        slot = system.written_slot(variable)
        declared = system.variables[variable.partition("[")[0]]
        bounds = {"minimum": declared.minimum, "maximum": declared.maximum}
        kind = TYPES[described.type]
        varies = "tunable" if causality == "parameter" else "continuous"
        initial = "exact" if causality == "parameter" else ""
        more = (variable, slot.array, slot.offset, 0, kind, causality, varies, initial)
        return FmuVariable(variable, *more, start=0.0, **bounds)

    def _readable(self, loop: CoSimulation, name: str, variable: str) -> FmuVariable:
        """A variable of a system that is read."""
        if isinstance(loop.participants[name], FmuParticipant):
            return _of_fmu(
                loop.participants[name], variable, loop.descriptions[name].variables[variable].type, "local"
            )
        kind = TYPES[loop.descriptions[name].variables[variable].type]
        slot = loop.participants[name].system.signal(variable).slot
        more = (variable, slot.array, slot.offset, 0, kind, "local", "continuous", "calculated")
        return FmuVariable(variable, *more)

    def _interface_of(self, member: _Member) -> FmuInterface:
        variables = tuple(member.variables)
        return FmuInterface(member.name, member.prefix, {}, variables, "", {}, member.accuracy)

    def _starts(self) -> Iterator[str]:
        """The tables with which arrays begin, and the list of all arrays."""
        rows = list[str]()
        for i, (name, (array, role)) in enumerate(self._arrays.items()):
            flat = array.reshape(-1)
            start = "NULL"
            if flat.size and flat.view(np.uint64).any():
                start = f"start_{i}"
                if flat.dtype == np.float64:
                    yield c_start("double", str(i), [c_real(float(x)) for x in flat], "0.0")
                else:
                    yield c_start("int64_t", str(i), [_c_word(int(x)) for x in flat], "0")
            rows.append(f"{{{c_text(name)}, {start}, {flat.size}, 1, {role}, 0}}")
        self._first: list[int] = []
        self._copies: list[int] = []
        for member in self._members:
            self._first.append(len(rows))
            rows += _rows_of(member, copied=False) if member.system is not None else []
        for member in self._members:
            if not self._goes_back or member.system is None:
                self._copies.append(-1)
                continue
            self._copies.append(len(rows))
            rows += _rows_of(member, copied=True)
            rows.append(f"{{{c_text(f'{member.name}.life')}, NULL, {LIFE_WORDS}, 1, SCRATCH, 0}}")
        yield c_table("ArrayStart", "array_starts", rows)
        self._count = len(rows)

    def _tables(self, token: str, digest: bytes) -> str:
        """The text of ``model.c``."""
        starts = list(self._starts())
        models = [f"extern const Model {member.prefix}_model;" for member in self._systems]
        members = [
            f"{{{c_text(m.name)}, {'NULL' if m.system is None else f'&{m.prefix}_model'}, "
            f"{'NULL' if m.fmu is None else f'&foreign_{i}'}, {first}, {copies}, "
            f"{'NAN' if m.takes_tolerance else c_real(m.accuracy)}, {here(f'inputs_{i}', m.inputs)}, "
            f"{here(f'outputs_{i}', m.outputs)}, {int(self._follows[m.name])}}}"
            for i, (m, first, copies) in enumerate(zip(self._members, self._first, self._copies, strict=True))
        ]
        container = {
            **{"member_count": str(len(members)), "members": here("members", members)},
            "algorithm_count": str(sum(name.endswith(".program") for name in self._arrays)),
            **{"parameter_count": str(self._parameters), "setting_count": str(len(self._settings))},
            **{"settings": here("settings", self._settings), "output_count": str(len(self._outputs))},
            **{"outputs": here("outputs", self._outputs), "start": c_real(self.interface.start_time)},
            **{"divides": str(int(self._divides)), "foreign": "&cosim_foreign" if self.has_fmus else "NULL"},
            **{"exchanging": str(EXCHANGING), "stop_count": str(len(STOPS)), "stops": "stops"},
        }
        listed = "".join(f"    .{name} = {value},\n" for name, value in container.items())
        parts = [
            '#include "container.h"\n\n#include <math.h>\n#include <stddef.h>\n',
            *models,
            *starts,
            variable_tables(self.interface, self._place, has_arrays=False),
            c_table("int64_t", "discretes", map(str, discretes(self.interface.variables))),
            *self._rows,
            *(
                c_table("uint32_t", f"{kind}_{i}", map(str, references))
                for i, member in enumerate(self._members)
                for kind, references in (("inputs", member.inputs), ("outputs", member.outputs))
            ),
            *self._foreign_units(),
            c_table("Member", "members", members),
            c_table("char *const", "stops", map(c_text, STOPS)),
            f"const Container cosim_container = {{\n{listed}}};\n",
            model_structure(self._model(token, digest)),
        ]
        return "\n".join(part for part in parts if part)

    def _foreign_units(self) -> Iterator[str]:
        """The tables of FMUs of others."""
        for i, member in enumerate(self._members):
            if member.fmu is None:
                continue
            yield c_table("int64_t", f"input_types_{i}", member.input_types)
            yield c_table("int64_t", f"output_types_{i}", member.output_types)
            declared, tolerance = member.fmu.declared, member.tolerance
            cells = [c_text(declared.guid), c_text(f"members/{i}"), c_text(declared.identifier)]
            cells += [str(int(tolerance is not None)), c_real(tolerance or 0.0)]
            cells += [here(f"input_types_{i}", member.inputs), here(f"output_types_{i}", member.outputs)]
            yield c_table("ForeignStart", f"starts_{i}", member.starts)
            cells += [str(len(member.starts)), here(f"starts_{i}", member.starts)]
            yield f"static const ForeignUnit foreign_{i} = {{{', '.join(cells)}}};\n"

    def _place(self, variable: FmuVariable) -> tuple[int, int, tuple[int, int]]:
        """Where a variable of the FMU lies among its arrays."""
        array = {"input": "inputs", "parameter": "parameters"}.get(variable.causality, "shown")
        listed = {"inputs": self._settings[self._parameters :], "parameters": self._settings}
        at = [v.name for v in listed.get(array, self._outputs)].index(variable.name)
        return OWN.index(array), at, (-1, -1)

    def _model(self, token: str, digest: bytes) -> Mapping[str, str]:
        """What the shell knows of it."""
        discrete = discretes(self.interface.variables)
        takes = any(member.takes_tolerance for member in self._members)
        return {
            **{"name": c_text(self.interface.model_name), "token": c_text(token)},
            "digest": "{" + ", ".join(map(str, digest)) + "}",
            **{"accuracy": c_real(self.accuracy), "kinds": "2", "array_count": str(self._count)},
            **{"arrays": "array_starts", "variable_count": str(len(self.interface.variables) + 1)},
            **{"variables": "variables", "discrete_count": str(len(discrete))},
            **{"discretes": here("discretes", discrete), "parameters": "PARAMETERS", "cache": "SHOWN"},
            **{"continuous": "GROWING", "discrete": "INPUTS", "whole": "WHOLE", "clock": "CLOCK"},
            **{"places": "PLACES", "history": "GROWING", "integers": "WHOLE", "given": "NUMBERS"},
            **{"given_meeting": "MEETING", "same_time": c_real(records.SAME_TIME), "clock_time": "TIME_NOW"},
            **{"clock_jumped": "JUMPED", "clock_next_event": "NEXT_EVENT", "clock_changed": "CHANGED"},
            **{"places_stage": "STAGE", "places_needed": "NEEDED", "places_halts": "HALTS"},
            **{"places_entry": "ENTRY", "places_most": "MOST", "nothing": "NOT_SHOWN"},
            **{"restored": "NOT_SHOWN", "reached": "IS_REACHED", "terminated": "HAS_ENDED"},
            **{"full": "IS_FULL", "stepped": "HAS_STEPPED", "event_happened": "HAS_EVENT"},
            **{"first_failure": "HAS_FAILED", "initialize": "container_initialize"},
            **{"advance": "container_advance", "step": "container_advance", "check": "container_check"},
            **{"evaluate": "container_evaluate", "explain": "container_message"},
            "accuracy_given": "container_accuracy" if takes else "NULL",
            "refuse_step": "container_refuse_step",
            **(FOREIGN_CALLS if self.has_fmus else {}),
            "foreign_count": str(len(self._members) if self.has_fmus else 0),
            "history_room": str(self._room_of_histories),
        }

    def _describe(self, token: str) -> bytes:
        tool = f"cosim-framework {cosim.__version__}"
        return describe(
            *(self.version, ["cs"], self.interface, tool, token, ()),
            sources=self._units,
            abilities=self._abilities,
        )


C_TYPES = {"Real": "REAL", "Integer": "INTEGER", "Boolean": "BOOLEAN", "Enumeration": "INTEGER"}
FOREIGN_CALLS = {name: f"foreign_{name}" for name in ("open", "close", "keep", "take_back", "forget")}
TYPES = {"real": "Real", "integer": "Integer", "boolean": "Boolean"}
ABILITIES = {
    2: {
        "needsExecutionTool": "false",
        "canHandleVariableCommunicationStepSize": "true",
        "canInterpolateInputs": "false",
        "canBeInstantiatedOnlyOncePerProcess": "false",
        "canNotUseMemoryManagementFunctions": "true",
        "canGetAndSetFMUstate": "true",
        "canSerializeFMUstate": "true",
    },
    3: {
        "needsExecutionTool": "false",
        "canHandleVariableCommunicationStepSize": "true",
        "canBeInstantiatedOnlyOncePerProcess": "false",
        "canGetAndSetFMUState": "true",
        "canSerializeFMUState": "true",
    },
}


def _start_of(member: _Member, loop: CoSimulation, variable: str, value: Any) -> str:
    """A start value of an FMU of others as a row of C."""
    kind = TYPES.get(loop.descriptions[member.name].variables[variable].type)
    if kind is None:
        raise cosim.ModelError.of(f"{member.name}.{variable}", "its start value is written in Python")
    assert member.fmu is not None
    reference = member.fmu.declared.elements[variable].reference
    return f"{{{reference}, {C_TYPES[kind]}, {c_real(float(value))}}}"


def _role_of(name: str) -> str:
    """What becomes of an array when a state is saved."""
    return "CONSTANT" if name == "foreign" else "STATE" if name in SAVED else "SCRATCH"


def _of_fmu(participant: FmuParticipant, name: str, kind: str, causality: str) -> FmuVariable:
    """A variable of an FMU of others, under its value reference."""
    initial = "exact" if causality == "parameter" else "calculated"
    reference = participant.declared.elements[name].reference
    return FmuVariable(name, name, "", reference, 0, TYPES[kind], causality, "discrete", initial)


def _c_word(value: int) -> str:
    return "INT64_MIN" if value == -(2**63) else str(value) if abs(value) < 2**31 else f"INT64_C({value})"


def _rows_of(member: _Member, *, copied: bool) -> list[str]:
    """The arrays of a member, or others that take a copy of them."""
    rows = []
    for name, _, role in ARRAYS:
        array = member.program.arrays[name]
        columns = array.shape[1] if array.ndim == 2 else 1
        kind = "SCRATCH" if copied and role != "constant" else ROLES[role]
        rows.append(
            f"{{{c_text(f'{member.name}.{name}')}, NULL, {len(array)}, {columns}, {kind}, {int(name == 'h')}}}"
        )
    return rows
