"""A co-simulation as C files and machine code, for an FMU without Python."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import SAME_TIME, lower
from cosim_export.interface.fmu_interface import FmuInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.native.compilers import Platform
from cosim_export.native.description import describe
from cosim_export.native.history_room import history_room
from cosim_export.native.model_tables import (
    ENTRY_POINTS,
    RAISED,
    c_real,
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
from cosim_fmu.container.container_arrays import LIFE_WORDS, OWN, array_tables, own_arrays, run_arrays
from cosim_fmu.container.container_interface import COUPLING
from cosim_fmu.container.container_interface import TYPES as CONTAINER_TYPES
from cosim_fmu.container.native_member import NativeMember
from cosim_fmu.container.native_refusals import native_refusals, refuse_used_texts
from cosim_lowering.c_program import CProgram, plain_functions_in_c
from cosim_lowering.linking import machine_code
from cosim_lowering.machine_code import MachineCode
from cosim_master.exchange.exchange_algorithms import ExchangePrograms
from cosim_master.exchange.lead_exchanges import LEADING
from cosim_master.exchange.run_exchanges import EXCHANGING
from cosim_master.participants.system_participant import ACCURACY
from cosim_master.recording.recorder import Recorder
from cosim_master.run.stepped_run import SteppedRun, can_divide
from cosim_master.start.initialize_participants import passing_order
from cosim_master.trust.assess_samples import ASSESSING

STOPS = (
    "it failed",
    "its inputs could not be set",
    "its step failed",
    "its outputs could not be read",
    "an input gets a value that it does not take, such as one that is not finite: the exchange is unstable",
    "its step was left",
    "the slopes of its inputs could not be set",
    "its state could not be saved",
    "its state could not be restored",
    "the exchange did not settle: take a smaller step, or another algorithm",
    "it could not be initialized",
)
"""Reasons why the interpreter has stopped, by its code (`run_exchanges`)."""
VERDICT_NAMES = (f"{COUPLING}.verdict", f"{COUPLING}.error")
"""The first of `Assessment.outcome`; behind them stands the error of each output that is sampled."""
LEADING_IN_C = {f"cosim_{name}": entry for name, entry in LEADING.items()}
ASSESSING_IN_C = {f"cosim_{name}": entry for name, entry in ASSESSING.items()}
FOREIGN_CALLS = {
    name: f"foreign_{name}" for name in ("open", "close", "save_states", "restore_states", "free_states")
}


class NativeContainer:
    """A co-simulation of systems of ours and FMUs, as what the libraries of an FMU are built from.

    The library has the same C shell as native FMUs of models. To that shell the co-simulation is one model
    whose arrays are those of the interpreter of exchanges (`exchange_arrays`) and of all systems. The
    functions are those that `cosim cosimulate` calls. FMUs travel in the resources; the library loads them
    from there.

    Parameters
    ----------
    loop : CoSimulation
    interface : FmuInterface
        From `container_interface`; the error of the coupling is left out.
    version : int
        The version of FMI: 2 or 3.
    has_library : bool
        Whether its functions are compiled for shared libraries.
    history_entries : int, optional
        Given where the functions are printed as C: how many values of each delayed signal can be stored.

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
        Parts that only Python runs, each with the reason.
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
        if problems := native_refusals(loop, sources=history_entries is not None):
            raise cosim.ModelError(problems)
        self.version = version
        # sources allocate nothing while they run, and samples of the coupling need ever more memory
        self.is_assessed = history_entries is None
        shown = list(interface.variables)
        if not self.is_assessed:
            shown = [v for v in shown if not v.name.startswith(f"{COUPLING}.")]
        texts = [v for v in shown if v.type == "String"]
        refuse_used_texts(texts, loop)
        self.texts = [v.name for v in texts]
        shown = [v for v in shown if v.type != "String"]
        self._members = [NativeMember.of(loop, i, name) for i, name in enumerate(loop.participants)]
        self._systems = [member for member in self._members if member.program is not None]
        self._takes_tolerance = [member for member in self._members if member.takes_tolerance]
        self.accuracy = self._takes_tolerance[0].accuracy if self._takes_tolerance else ACCURACY
        self._divides, self._abilities = can_divide(loop), _abilities(loop, version, self.has_fmus)
        run = _recording_numbers(loop).led_run()
        run.begin()
        try:
            self._read_run(loop, run, shown)
        finally:
            run.close()
        arrays = {"input": "d", "parameter": "p"}
        self.interface = replace(
            interface,
            variables=tuple(replace(v, array=arrays.get(v.causality, "c")) for v in shown),
            accuracy=self.accuracy if self._takes_tolerance else None,
        )
        more: tuple[str, ...] = ("foreign", "foreign2", "foreign3") if self.has_fmus else ()
        if any(member.series is not None for member in self._members):
            more += ("series",)
        if self.is_assessed:
            more += ("assessment",)
        self.files = [SHELL / f"{name}.c" for name in (*COMMON, "container", *more, f"fmi{version}")]
        self.codes, self._units = list[MachineCode](), list[str]()
        self.generated, self.printed = dict[str, str](), dict[str, bytes]()
        self._build(has_library, history_entries)

    @property
    def has_fmus(self) -> bool:
        """Whether FMUs travel in the resources."""
        return any(member.fmu is not None for member in self._members)

    def resources(self, platforms: Sequence[Platform]) -> dict[str, bytes]:
        """The files in the resources for these platforms.

        Raises
        ------
        ModelError
            An FMU has no binaries for a platform.
        """
        files = (member.files(i, platforms) for i, member in enumerate(self._members))
        return {name: content for listed in files for name, content in listed}

    def _build(self, has_library: bool, history_entries: int | None) -> None:
        """Compile and print all functions, then write tables and description, with a digest of all that."""
        if has_library:
            called = LEADING_IN_C | (ASSESSING_IN_C if self.is_assessed else {})
            self.codes.append(MachineCode([lower(called)], list(called)))
        printed, names = self._add_systems(has_library, history_entries)
        if history_entries is not None:
            printed["interpreter.c"] = '#include "names.h"\n\n' + plain_functions_in_c(LEADING_IN_C)
            units = [*(file.name for file in self.files), *self.generated, "model.c", *printed]
            self._units = compiled_files(units)
        shell = [file.read_text("utf-8") for file in sorted(SHELL.glob("*.[ch]"))]
        texts = [*map(str, self.codes), *printed.values(), *self.generated.values(), *shell]
        texts += [self._tables("", bytes(16)), self._describe("").decode()]
        digest = sha256("\0".join(texts).encode()).digest()[:16]
        token = str(uuid.UUID(bytes=digest))
        self.token = f"{{{token}}}" if self.version == 2 else token
        self.generated["model.c"] = self._tables(self.token, digest)
        self.description = self._describe(self.token)
        if printed:
            sources, names = {**self.generated, **printed}, [*names, "cosim_container"]
            identifier = self.interface.identifier
            self.printed = source_files(SHELL, self.files, identifier, self.version, sources, names)

    def _add_systems(
        self, has_library: bool, history_entries: int | None
    ) -> tuple[dict[str, str], list[str]]:
        """Compile or print the functions of the systems, and write their tables.

        Returns
        -------
        printed : dict of str to str
            Their functions as files of C by name; none without `history_entries`.
        names : list of str
            The names that these files define.
        """
        printed, names, history_rooms = dict[str, str](), list[str](), [0]
        for i, member in enumerate(self._systems):
            program = member.program
            assert program is not None
            entries = [name for name in ENTRY_POINTS if f"lowered_{name}" in program.functions]
            if has_library:
                self.codes.append(machine_code(program, entries, RAISED, member.prefix))
            room = 0
            if history_entries is not None:
                room = history_room(program, history_entries)
                printed[f"member_{i}_code.c"] = CProgram(program, entries, RAISED, member.prefix).text
                names += [f"{member.prefix}_{name}" for name in ("model", *entries)]
            history_rooms.append(room)
            self.generated[f"member_{i}.c"] = model_tables(
                program,
                member.interface,
                kinds=["cs"],
                version=2,
                history_room=room,
                token="",
                digest=bytes(16),
                prefix=member.prefix,
            )
        self._history_room = max(history_rooms)
        return printed, names

    def _read_run(self, loop: CoSimulation, run: SteppedRun, shown: Sequence[FmuVariable]) -> None:
        """Read the arrays of a run that has begun, and the variables that the host sets and reads."""
        coupled = run.coupled
        self._read_algorithm(run)
        if coupled.solved_at_start:
            text = "its first values are found by Newton's method, in Python"
            raise cosim.ModelError.of(coupled.solved_at_start[0], text)
        parameters = [v for v in shown if v.causality == "parameter"]
        inputs = [v for v in shown if v.causality == "input"]
        self._settings, self._parameter_count = [*parameters, *inputs], len(parameters)
        self._outputs = [v for v in shown if not v.is_settable and not v.name.startswith(f"{COUPLING}.")]
        self._errors = [*VERDICT_NAMES, *(f"{COUPLING}.{'.'.join(port)}" for port in coupled.sampled_ports)]
        for member in self._members:
            member.inputs, member.outputs = coupled.input_names[member.name], list(coupled.reads[member.name])
        self._assign_references()
        self._rows = [
            *self._output_rows(run.machine.output_slot),
            c_table("Setting", "settings", map(self._setting_row, self._settings)),
        ]
        number_count = 0
        for member in self._members:
            member.first_number = number_count
            number_count += member.number_count
        own = own_arrays(
            settings=[float(v.start or 0.0) for v in self._settings],
            parameters=self._parameter_count,
            outputs=len(self._outputs),
            members=len(self._members),
            room=max(member.room for member in self._members),
            times=number_count,
        )
        own |= _order_arrays(loop, run)
        self._arrays = {name: own[name] for name in OWN} | dict(run_arrays(run, is_assessed=self.is_assessed))

    def _assign_references(self) -> None:
        """Assign the references of all members: of variables that the host reads, then sets, then of others.

        Raises
        ------
        ModelError
            A variable of a type that only Python sets and reads.
        """
        for variable in self._outputs:
            _, member, name = self._owner(variable)
            member.assign_reference(name, is_set=False)
        for variable in self._settings:
            _, member, name = self._owner(variable)
            member.assign_reference(name, is_set=True)
            member.set_by_host.append(name)
        for member in self._members:
            member.assign_other_references()

    def _read_algorithm(self, run: SteppedRun) -> None:
        """Read what the master's algorithm asks of the members."""
        coupled = run.coupled
        programs = ExchangePrograms(run.algorithm, coupled)
        if programs.asked is not None:
            text = f"{type(programs.asked).__name__} decides in Python"
            raise cosim.ModelError.of("master.algorithm", text)
        self._goes_back = programs.saves_states
        for member in self._members:
            member.follows = programs.along and coupled.follows_lines(member.name)

    def _owner(self, variable: FmuVariable) -> tuple[int, NativeMember, str]:
        """The number of a variable's participant, that participant, and its own name for the variable."""
        name, _, own = variable.path.partition(".")
        number = next(i for i, member in enumerate(self._members) if member.name == name)
        return number, self._members[number], own

    def _setting_row(self, variable: FmuVariable) -> str:
        number, member, name = self._owner(variable)
        reference = member.reference(name, is_set=True)
        return f"{{{number}, {reference}, {member.type_of(name)}, {c_real(member.usual(name))}}}"

    def _output_rows(self, slot_of: Callable[[str, int], int]) -> Iterator[str]:
        """The outputs, each with the settings that it follows at once."""
        places, rows = {v.name: i for i, v in enumerate(self._settings)}, list[str]()
        for i, variable in enumerate(self._outputs):
            number, member, name = self._owner(variable)
            needs = [places[each] for each in variable.dependencies if each in places]
            yield c_table("int64_t", f"follows_{i}", map(str, needs))
            slot = slot_of(member.name, member.outputs.index(name))
            reference = member.reference(name, is_set=False)
            cells = f"{slot}, {number}, {reference}, {member.type_of(name)}, {len(needs)}"
            rows.append(f"{{{cells}, {here(f'follows_{i}', needs)}}}")
        yield c_table("Output", "outputs", rows)

    def _tables(self, token: str, digest: bytes) -> str:
        """The text of ``model.c``."""
        starts, arrays = array_tables(self._arrays)
        firsts, copies = list[int](), list[int]()
        for member in self._members:
            firsts.append(len(arrays))
            arrays += member.arrays(copied=False)
        for member in self._members:
            is_copied = self._goes_back and member.program is not None
            copies.append(len(arrays) if is_copied else -1)
            if is_copied:
                life = f"{{{c_text(f'{member.name}.life')}, NULL, {LIFE_WORDS}, 1, SCRATCH, 0}}"
                arrays += [*member.arrays(copied=True), life]
        members = [
            self._member_row(i, member, *places)
            for i, (member, *places) in enumerate(zip(self._members, firsts, copies, strict=True))
        ]
        parts = [
            '#include "container.h"\n\n#include <math.h>\n#include <stddef.h>\n',
            *(f"extern const Model {member.prefix}_model;" for member in self._systems),
            *starts,
            c_table("ArrayStart", "array_starts", arrays),
            variable_tables(self.interface, self._place, has_arrays=False),
            c_table("int64_t", "discretes", map(str, discretes(self.interface.variables))),
            *self._rows,
            *(table for i, member in enumerate(self._members) for table in member.tables(i)),
            c_table("Member", "members", members),
            c_table("char *const", "stops", map(c_text, STOPS)),
            self._container(),
            model_structure(self._model(token, digest, len(arrays))),
        ]
        return "\n".join(part for part in parts if part)

    def _member_row(self, number: int, member: NativeMember, first: int, copies: int) -> str:
        cells = [c_text(member.name), "NULL" if member.program is None else f"&{member.prefix}_model"]
        cells += [member.calls, "NULL" if member.fmu is None else f"&foreign_{number}"]
        cells += ["NULL" if member.series is None else f"&series_{number}", str(first), str(copies)]
        cells += ["NAN" if member.takes_tolerance else c_real(member.accuracy)]
        cells += [here(f"inputs_{number}", member.inputs), here(f"outputs_{number}", member.outputs)]
        return f"{{{', '.join(cells)}, {int(member.follows)}}}"

    def _container(self) -> str:
        """The tables of `container.c`."""
        algorithms = sum(name.endswith(".algorithm.program") for name in self._arrays)
        values = {
            "member_count": len(self._members),
            "members": "members",
            "algorithm_count": algorithms,
            "assessing": "&cosim_assessing" if self.is_assessed else "NULL",
            "parameter_count": self._parameter_count,
            "setting_count": len(self._settings),
            "settings": here("settings", self._settings),
            "output_count": len(self._outputs),
            "outputs": here("outputs", self._outputs),
            "start": c_real(self.interface.start_time),
            "same_time": c_real(SAME_TIME),
            "divides": int(self._divides),
            "exchanging": EXCHANGING,
            "stop_count": len(STOPS),
            "stops": "stops",
        }
        listed = "".join(f"    .{name} = {value},\n" for name, value in values.items())
        return f"const Container cosim_container = {{\n{listed}}};\n"

    def _place(self, variable: FmuVariable) -> tuple[int, int, tuple[int, int]]:
        """The array in which a variable of the FMU lies, its place there, and no place of a text."""
        if variable.name.startswith(f"{COUPLING}."):
            array_number, errors = list(self._arrays).index("assessed.outcome"), self._errors
            # behind the last error that is estimated stands one that never is: it stays unknown
            place = errors.index(variable.name) if variable.name in errors else len(errors)
            return array_number, place, (-1, -1)
        array, variables = "shown", self._outputs
        if variable.causality == "parameter":
            array, variables = "parameters", self._settings
        elif variable.causality == "input":
            array, variables = "inputs", self._settings[self._parameter_count :]
        return list(OWN).index(array), [v.name for v in variables].index(variable.name), (-1, -1)

    def _model(self, token: str, digest: bytes, arrays: int) -> Mapping[str, str]:
        """The tables of the shell."""
        discrete = discretes(self.interface.variables)
        return {
            "name": c_text(self.interface.model_name),
            "token": c_text(token),
            "digest": "{" + ", ".join(map(str, digest)) + "}",
            "accuracy": c_real(self.accuracy),
            "kinds": "2",
            "array_count": str(arrays),
            "arrays": "array_starts",
            "variable_count": str(len(self.interface.variables) + 1),
            "variables": "variables",
            "discrete_count": str(len(discrete)),
            "discretes": here("discretes", discrete),
            "parameters": "PARAMETERS",
            "cache": "SHOWN",
            "continuous": "GROWING",
            "discrete": "INPUTS",
            "whole": "WHOLE",
            "clock": "CLOCK",
            "places": "PLACES",
            "history": "GROWING",
            "integers": "WHOLE",
            "given": "NUMBERS",
            "given_meeting": "MEETING",
            "same_time": c_real(SAME_TIME),
            "clock_time": "TIME_NOW",
            "clock_jumped": "JUMPED",
            "clock_next_event": "NEXT_EVENT",
            "clock_changed": "CHANGED",
            "places_stage": "STAGE",
            "places_needed": "NEEDED",
            "places_halts": "HALTS",
            "places_entry": "ENTRY",
            "places_most": "MOST",
            "nothing": "NOT_SHOWN",
            "restored": "NOT_SHOWN",
            "reached": "IS_REACHED",
            "terminated": "HAS_ENDED",
            "full": "IS_FULL",
            "stepped": "HAS_STEPPED",
            "event_happened": "HAS_EVENT",
            "first_failure": "HAS_FAILED",
            "initialize": "container_initialize",
            "advance": "container_advance",
            "step": "container_advance",
            "check": "container_check",
            "evaluate": "container_evaluate",
            "accuracy_given": "container_accuracy" if self._takes_tolerance else "NULL",
            **({"refresh": "container_assess"} if self.is_assessed else {}),
            "stop_given": "container_stop",
            "refreshed": "ASSESSMENT_OUTCOME",
            "explain": "container_message",
            "refuse_step": "container_refuse_step",
            **(FOREIGN_CALLS if self.has_fmus else {}),
            "foreign_count": str(len(self._members) if self.has_fmus else 0),
            "history_room": str(self._history_room),
        }

    def _describe(self, token: str) -> bytes:
        tool = f"cosim-framework {cosim.__version__}"
        described = self.version, ["cs"], self.interface, tool, token, ()
        return describe(*described, sources=self._units, abilities=self._abilities)


def _order_arrays(loop: CoSimulation, run: SteppedRun) -> dict[str, NDArray[np.int64]]:
    """The order in which outputs pass before and after members are initialized, and in which members step."""
    numbers = run.machine.number
    arrays = {
        "before": _passing_words(loop, run, initializing=True),
        "after": _passing_words(loop, run, initializing=False),
        "order": [numbers[name] for name in run.coupled.order],
    }
    return {name: np.array(words, dtype=np.int64) for name, words in arrays.items()}


def _passing_words(loop: CoSimulation, run: SteppedRun, *, initializing: bool) -> list[int]:
    """The groups of `passing_order` one after the other, as integers.

    Of each: how many outputs it has, 1 where there is a closed path in it, then for each output the number of
    its participant and its place among all outputs.
    """
    coupled, machine = run.coupled, run.machine
    words = []
    for ports, closed_path in passing_order(loop.descriptions, loop.links, initializing=initializing):
        words += [len(ports), int(bool(closed_path))]
        for name, output in ports:
            place = list(coupled.reads[name]).index(output)
            words += [machine.number[name], machine.output_slot(name, place)]
    return words


def _recording_numbers(loop: CoSimulation) -> CoSimulation:
    """A co-simulation that records no clocks and no binary data, which the FMU cannot show."""
    recorder = Recorder(loop.descriptions, loop.links, loop.run_options.record, derived=loop.derived)
    kinds = {port: loop.descriptions[port[0]].variables[port[1]].type for port in recorder.ports}
    restricted = copy.copy(loop)
    if not set(kinds.values()) <= set(CONTAINER_TYPES):
        shown = [".".join(port) for port, kind in kinds.items() if kind in CONTAINER_TYPES]
        restricted._set(run_options=replace(loop.run_options, record=[*shown, *loop.derived]))
    return restricted


def _abilities(loop: CoSimulation, version: int, has_fmus: bool) -> dict[str, str]:
    """Attributes of CoSimulation in the model description; they follow from what all participants can do."""
    descriptions = loop.descriptions.values()
    able = {
        "needsExecutionTool": False,
        "canHandleVariableCommunicationStepSize": can_divide(loop),
        "canBeInstantiatedOnlyOncePerProcess": any(each.only_once for each in descriptions),
        "canGetAndSetFMUstate": all(each.can_restore for each in descriptions),
        "canSerializeFMUstate": not has_fmus,
    }
    if version == 2:
        able |= {"canInterpolateInputs": False, "canNotUseMemoryManagementFunctions": True}
    texts = {name: str(value).lower() for name, value in able.items()}
    return texts if version == 2 else {n.replace("FMUstate", "FMUState"): x for n, x in texts.items()}
