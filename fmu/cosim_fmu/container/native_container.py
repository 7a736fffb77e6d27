"""A co-simulation as C files and machine code, for an FMU without Python."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import cosim
from cosim.kit import lower
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.native.description import describe
from cosim_export.native.history_room import history_room
from cosim_export.native.model_tables import ENTRY_POINTS, RAISED, model_tables
from cosim_export.native.native_sources import COMMON, SHELL
from cosim_export.native.platforms import Platform
from cosim_export.native.source_files import compiled_files, source_files
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.container.container_interface import COUPLING
from cosim_fmu.container.container_run import read_container_run
from cosim_fmu.container.container_tables import ContainerTables
from cosim_fmu.container.native_refusals import native_refusals, refuse_used_texts
from cosim_lowering.c_program import CProgram, plain_functions_in_c
from cosim_lowering.linking import machine_code
from cosim_lowering.machine_code import MachineCode
from cosim_master.exchange.lead_exchanges import LEADING
from cosim_master.run.stepped_run import can_divide
from cosim_master.trust.assess_samples import ASSESSING

FOREIGN = ("foreign", "foreign_library", "foreign_states", "foreign2", "foreign3")
"""Files of the shell that run FMUs of others."""
LEADING_IN_C = {f"cosim_{name}": entry for name, entry in LEADING.items()}
ASSESSING_IN_C = {f"cosim_{name}": entry for name, entry in ASSESSING.items()}


class NativeContainer:
    """The C files and machine code of an FMU that runs a co-simulation of systems of ours and FMUs.

    The library has the same C shell as native FMUs of models. To that shell the co-simulation is one model
    whose arrays are those of the interpreter of exchanges (`exchange_arrays`) and of all systems. The
    functions are those that `cosim cosimulate` calls. FMUs travel in the resources; the library loads them
    from there.

    Parameters
    ----------
    loop : CoSimulation
    interface : ExportedInterface
        From `container_interface`; the error of the coupling is left out.
    version : int
        The version of FMI: 2 or 3.
    has_library : bool
        Whether its functions are compiled for shared libraries.
    history_entries : int, optional
        If given, the FMU brings its functions as C sources, with room for this number of past values of each
        delayed signal; else it has libraries alone. Sources allocate nothing while they run, so the error of
        the coupling is not assessed: its samples need ever more memory.

    Attributes
    ----------
    texts : list of str
        Parameters and inputs that are text: they stay as they are.
    brings_sources : bool
    is_assessed : bool
        Whether the FMU tells the error of its coupling.
    interface : ExportedInterface
        The variables of the FMU, each with its array.
    files : list of Path
        C files of the shell.
    codes : list of MachineCode
    generated : dict of str to str
        C files by name.
    token : str
    description : bytes
        The text of ``modelDescription.xml``.
    terminals : None
        A co-simulation has none.
    printed : dict of str to bytes
        The sources that the FMU brings, by name; empty unless it `brings_sources`.

    Raises
    ------
    ModelError
        Parts that only Python runs, each with the reason.
    """

    terminals: bytes | None = None

    def __init__(
        self,
        loop: CoSimulation,
        interface: ExportedInterface,
        version: int,
        has_library: bool = True,
        history_entries: int | None = None,
    ) -> None:
        loop.order_participants()
        self._history_entries = history_entries
        self.brings_sources = history_entries is not None
        if problems := native_refusals(loop, sources=self.brings_sources):
            raise cosim.ModelError(problems)
        self.version = version
        self.is_assessed = not self.brings_sources
        shown, texts = self._shown_variables(interface)
        refuse_used_texts(texts, loop)
        self.texts = [v.name for v in texts]
        self._divides = can_divide(loop)
        self._run = read_container_run(loop, shown, is_assessed=self.is_assessed)
        self._abilities = _abilities(loop, version, self._run.has_fmus)
        arrays = {"input": "d", "parameter": "p"}
        self.interface = replace(
            interface,
            variables=tuple(replace(v, array=arrays.get(v.causality, "c")) for v in shown),
            accuracy=self._run.accuracy if self._run.takes_tolerance else None,
        )
        self.files = self._shell_files()
        self.codes, self._compiled_files = list[MachineCode](), list[str]()
        self.generated, self.printed = dict[str, str](), dict[str, bytes]()
        if has_library:
            called = LEADING_IN_C | (ASSESSING_IN_C if self.is_assessed else {})
            self.codes.append(MachineCode([[lower(called)]], list(called)))
        printed, names, room = self._add_systems(has_library)
        if self.brings_sources:
            printed["interpreter.c"] = '#include "names.h"\n\n' + plain_functions_in_c(LEADING_IN_C)
            units = [*(file.name for file in self.files), *self.generated, "model.c", *printed]
            self._compiled_files = compiled_files(units)
        self._write_model(printed, room)
        if printed:
            sources, names = {**self.generated, **printed}, [*names, "cosim_container"]
            identifier = self.interface.identifier
            self.printed = source_files(SHELL, self.files, identifier, version, sources, names)

    def _shown_variables(self, interface: ExportedInterface) -> tuple[list[FmuVariable], list[FmuVariable]]:
        """The variables of the FMU, and those of the interface that it leaves out since they are text."""
        shown = list(interface.variables)
        if not self.is_assessed:
            shown = [v for v in shown if not v.name.startswith(f"{COUPLING}.")]
        texts = [v for v in shown if v.type == "String"]
        return [v for v in shown if v.type != "String"], texts

    def _shell_files(self) -> list[Path]:
        more: tuple[str, ...] = FOREIGN if self._run.has_fmus else ()
        if any(member.series is not None for member in self._run.members):
            more += ("series",)
        if self.is_assessed:
            more += ("assessment",)
        return [SHELL / f"{name}.c" for name in (*COMMON, "container", *more, f"fmi{self.version}")]

    def resources(self, platforms: Sequence[Platform]) -> dict[str, bytes]:
        """The files in the resources for these platforms.

        Raises
        ------
        ModelError
            An FMU has no binaries for a platform.
        """
        files = (member.files(i, platforms) for i, member in enumerate(self._run.members))
        return {name: content for listed in files for name, content in listed}

    def _write_model(self, printed: Mapping[str, str], history_room: int) -> None:
        """Write tables and description, with a token that is a digest of all that the FMU consists of.

        The digest is one of texts with an empty token; then both are written with the token.
        """
        tables = ContainerTables(self._run, self.interface, self.is_assessed, self._divides, history_room)
        shell = [file.read_text("utf-8") for file in sorted(SHELL.glob("*.[ch]"))]
        texts = [*(code.digest for code in self.codes), *printed.values(), *self.generated.values(), *shell]
        texts += [tables.text("", bytes(16)), self._describe("").decode()]
        digest = sha256("\0".join(texts).encode()).digest()[:16]
        token = str(uuid.UUID(bytes=digest))
        self.token = f"{{{token}}}" if self.version == 2 else token
        self.generated["model.c"] = tables.text(self.token, digest)
        self.description = self._describe(self.token)

    def _add_systems(self, has_library: bool) -> tuple[dict[str, str], list[str], int]:
        """Compile or print the functions of the systems, and write their tables.

        Returns
        -------
        printed : dict of str to str
            Their functions as files of C by name; none if nothing is printed.
        names : list of str
            The names that these files define.
        room : int
            Numbers that the histories of a system may have at most; 0 if nothing is printed.
        """
        printed, names, rooms = dict[str, str](), list[str](), [0]
        for i, member in enumerate(self._run.systems):
            program = member.program
            assert program is not None
            entries = [name for name in ENTRY_POINTS if f"lowered_{name}" in program.functions]
            if has_library:
                self.codes.append(machine_code(program, entries, RAISED, member.prefix))
            room = 0
            if self._history_entries is not None:
                room = history_room(program, self._history_entries)
                printed[f"member_{i}_code.c"] = CProgram(program, entries, RAISED, member.prefix).text
                names += [f"{member.prefix}_{name}" for name in ("model", *entries)]
            rooms.append(room)
            self.generated[f"member_{i}.c"] = model_tables(
                program,
                member.interface,
                kinds=["cs"],
                version=2,  # a container has scalars, whatever its version; with 3 these would be arrays
                history_room=room,
                token="",
                digest=bytes(16),
                prefix=member.prefix,
            )
        return printed, names, max(rooms)

    def _describe(self, token: str) -> bytes:
        return describe(
            self.version,
            ["cs"],
            self.interface,
            tool=f"cosim-framework {cosim.__version__}",
            token=token,
            indicators=(),
            sources=self._compiled_files,
            abilities=self._abilities,
        )


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
