"""The tables in C of an FMU that is a co-simulation: ``model.c``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cosim.kit import SAME_TIME
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.native.c_tables import c_real, c_table, c_text, name_or_null
from cosim_export.native.model_tables import discretes, model_structure, variable_tables
from cosim_fmu.container.container_arrays import LIFE_WORDS, OWN, array_tables
from cosim_fmu.container.container_interface import COUPLING
from cosim_fmu.container.container_run import ContainerRun
from cosim_fmu.container.native_member import NativeMember
from cosim_master.exchange.stop_codes import EXCHANGING

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
FOREIGN_CALLS = {
    name: f"foreign_{name}" for name in ("open", "close", "save_states", "restore_states", "free_states")
}


@dataclass(frozen=True)
class ContainerTables:
    """The tables of a native container, as text.

    Attributes
    ----------
    run : ContainerRun
    interface : ExportedInterface
        The variables, each with the array in which it lies.
    is_assessed : bool
        Whether the error of the coupling is estimated.
    divides : bool
        Whether a communication step of the host may be any multiple of the step.
    history_room : int
        Numbers that the histories of each system may have in sources, which allocate nothing; else 0.
    """

    run: ContainerRun
    interface: ExportedInterface
    is_assessed: bool
    divides: bool
    history_room: int

    def _setting_row(self, variable: FmuVariable) -> str:
        number, member, name = self.run.owner(variable)
        reference = member.reference(name, is_set=True)
        return f"{{{number}, {reference}, {member.type_of(name)}, {c_real(member.usual(name))}}}"

    def _output_rows(self) -> Iterator[str]:
        """The outputs, each with the settings that it follows at once."""
        places, rows = {v.name: i for i, v in enumerate(self.run.settings)}, list[str]()
        for i, (variable, slot) in enumerate(zip(self.run.outputs, self.run.output_slots, strict=True)):
            number, member, name = self.run.owner(variable)
            needs = [places[each] for each in variable.dependencies if each in places]
            yield c_table("int64_t", f"follows_{i}", map(str, needs))
            reference = member.reference(name, is_set=False)
            cells = f"{slot}, {number}, {reference}, {member.type_of(name)}, {len(needs)}"
            rows.append(f"{{{cells}, {name_or_null(f'follows_{i}', needs)}}}")
        yield c_table("Output", "outputs", rows)

    def text(self, token: str, digest: bytes) -> str:
        """The text of ``model.c`` with the token and the digest of the FMU."""
        starts, arrays = array_tables(self.run.arrays)
        firsts, copies = list[int](), list[int]()
        for member in self.run.members:
            firsts.append(len(arrays))
            arrays += member.arrays(copied=False)
        for member in self.run.members:
            is_copied = self.run.goes_back and member.program is not None
            copies.append(len(arrays) if is_copied else -1)
            if is_copied:
                life = f"{{{c_text(f'{member.name}.life')}, NULL, {LIFE_WORDS}, 1, SCRATCH, 0}}"
                arrays += [*member.arrays(copied=True), life]
        members = [
            self._member_row(i, member, *places)
            for i, (member, *places) in enumerate(zip(self.run.members, firsts, copies, strict=True))
        ]
        parts = [
            '#include "container.h"\n\n#include <math.h>\n#include <stddef.h>\n',
            *(f"extern const Model {member.prefix}_model;" for member in self.run.systems),
            *starts,
            c_table("ArrayStart", "array_starts", arrays),
            variable_tables(self.interface, self._place, has_arrays=False),
            c_table("int64_t", "discretes", map(str, discretes(self.interface.variables))),
            *self._output_rows(),
            c_table("Setting", "settings", map(self._setting_row, self.run.settings)),
            *(table for i, member in enumerate(self.run.members) for table in member.tables(i)),
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
        cells += [
            name_or_null(f"inputs_{number}", member.inputs),
            name_or_null(f"outputs_{number}", member.outputs),
        ]
        return f"{{{', '.join(cells)}, {int(member.follows)}}}"

    def _container(self) -> str:
        """The tables of `container.c`."""
        algorithms = sum(name.endswith(".algorithm.program") for name in self.run.arrays)
        values = {
            "member_count": len(self.run.members),
            "members": "members",
            "algorithm_count": algorithms,
            "assessing": "&cosim_assessing" if self.is_assessed else "NULL",
            "parameter_count": len(self.run.parameters),
            "setting_count": len(self.run.settings),
            "settings": name_or_null("settings", self.run.settings),
            "output_count": len(self.run.outputs),
            "outputs": name_or_null("outputs", self.run.outputs),
            "start": c_real(self.interface.start_time),
            "same_time": c_real(SAME_TIME),
            "divides": int(self.divides),
            "exchanging": EXCHANGING,
            "stop_count": len(STOPS),
            "stops": "stops",
        }
        listed = "".join(f"    .{name} = {value},\n" for name, value in values.items())
        return f"const Container cosim_container = {{\n{listed}}};\n"

    def _place(self, variable: FmuVariable) -> tuple[int, int, tuple[int, int]]:
        """The array in which a variable of the FMU lies, its place there, and no place of a text."""
        if variable.name.startswith(f"{COUPLING}."):
            array_number, errors = list(self.run.arrays).index("assessed.outcome"), self.run.errors
            # behind the last error that is estimated stands one that never is: it stays unknown
            place = errors.index(variable.name) if variable.name in errors else len(errors)
            return array_number, place, (-1, -1)
        array, variables = "shown", self.run.outputs
        if variable.causality == "parameter":
            array, variables = "parameters", self.run.settings
        elif variable.causality == "input":
            array, variables = "inputs", self.run.inputs
        return list(OWN).index(array), [v.name for v in variables].index(variable.name), (-1, -1)

    def _model(self, token: str, digest: bytes, arrays: int) -> Mapping[str, str]:
        """The tables of the shell."""
        discrete = discretes(self.interface.variables)
        return {
            "name": c_text(self.interface.model_name),
            "token": c_text(token),
            "digest": "{" + ", ".join(map(str, digest)) + "}",
            "accuracy": c_real(self.run.accuracy),
            "kinds": "2",
            "array_count": str(arrays),
            "arrays": "array_starts",
            "variable_count": str(len(self.interface.variables) + 1),
            "variables": "variables",
            "discrete_count": str(len(discrete)),
            "discretes": name_or_null("discretes", discrete),
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
            "accuracy_given": "container_accuracy" if self.run.takes_tolerance else "NULL",
            **({"refresh": "container_assess"} if self.is_assessed else {}),
            "stop_given": "container_stop",
            "refreshed": "ASSESSMENT_OUTCOME",
            "explain": "container_message",
            "refuse_step": "container_refuse_step",
            **(FOREIGN_CALLS if self.run.has_fmus else {}),
            "foreign_count": str(len(self.run.members) if self.run.has_fmus else 0),
            "history_room": str(self.history_room),
        }
