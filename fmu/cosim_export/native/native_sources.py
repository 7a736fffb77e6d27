"""The sources of a native FMU of a model: C files, machine code and the model description."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import Slot, seldom_evaluated
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.first_state import first_state
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.hidden_variables import count_hidden
from cosim_export.interface.names import Naming
from cosim_export.interface.select_variables import select_variables
from cosim_export.native.description import describe
from cosim_export.native.exchanged_variables import with_all_states, with_indicators
from cosim_export.native.fmu_array import arrays_of
from cosim_export.native.history_room import history_room
from cosim_export.native.model_tables import ENTRY_POINTS, RAISED, model_tables
from cosim_export.native.run_derivatives import (
    checked_paths,
    derivative_outputs,
    differentiated,
    slots_of,
)
from cosim_export.native.source_files import compiled_files, source_files
from cosim_export.native.terminals import terminals
from cosim_lowering.frame_functions import frame_functions
from cosim_lowering.linking import machine_code
from cosim_lowering.machine_code import MachineCode
from cosim_lowering.program import Program

SHELL = Path(__file__).parent / "shell"
COMMON = ("instance", "arrays", "values", "derivatives", "held", "exchange", "saved")
"""Files of the shell that both versions of FMI share."""
DEFAULT_SETTINGS: Mapping[str, Any] = {
    "integrator": "integrators.runge_kutta_merson",
    "integrator_options": {},
    "accuracy": 1e-6,
}
DIGEST_SIZE = 16
"""Bytes of a UUID."""


@dataclass(frozen=True, kw_only=True)
class NativeChoices:
    """The choices for a native FMU of a model.

    Attributes
    ----------
    version : int
        Version of FMI: 2 or 3.
    kinds : sequence of str
        "cs" (Co-Simulation), "me" (Model Exchange) or both.
    selections : mapping
        Arguments of `select_variables`.
    settings : mapping
        Integrator, its options and the accuracy (`FmuOptions.settings`).
    naming : Naming
    has_arrays : bool
        Whether an array is one variable in FMI 3.0.
    has_clocks : bool
        Whether periodic events are output clocks in FMI 3.0.
    has_library : bool
        Whether the functions are compiled for shared libraries.
    has_tangents : bool
        Whether the functions are differentiated, so that directional derivatives are exact.
    derivatives : sequence of str
        Paths of parameters, start values and inputs. The derivatives of all outputs by these variables along
        the run are further outputs.
    history_entries : int or None
        If given, the functions are printed as C sources, with room for this number of past values of each
        signal.
    """

    version: int = 2
    kinds: Sequence[str] = ("cs", "me")
    selections: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=lambda: DEFAULT_SETTINGS)
    naming: Naming = field(default_factory=lambda: Naming.of("structured", None))
    has_arrays: bool = True
    has_clocks: bool = True
    has_library: bool = True
    has_tangents: bool = False
    derivatives: Sequence[str] = ()
    history_entries: int | None = None


class NativeSources:
    """A model as C files, compiled functions and a model description.

    Parameters
    ----------
    model : Model
    choices : NativeChoices, optional

    Attributes
    ----------
    version : int
    kinds : list of str
    program : Program
    interface : ExportedInterface
    indicators : dict of str to (int, int)
        By the path of each witness: the place of its value in the cache, and in the clock the place of the
        value that counts as zero.
    code : MachineCode or None
    printed : dict of str to bytes
        The files of the folder ``sources``; empty if the functions are not printed.
    tables : str
        The generated C file.
    files : list of Path
        The C files of the shell.
    description : bytes
        ``modelDescription.xml``
    terminals : bytes or None
        ``terminalsAndIcons.xml`` of FMI 3.0.
    left_out : dict of str to int
        The number of variables that are not shown, by their role (`count_hidden`).
    token : str
        guid of FMI 2.0, instantiation token of FMI 3.0: a digest of all the texts.

    Raises
    ------
    ModelError
        Faults of the model; every part that cannot be lowered.
    """

    def __init__(self, model: cosim.Model, choices: NativeChoices | None = None) -> None:
        choices = choices or NativeChoices()
        version, naming, has_arrays = choices.version, choices.naming, choices.has_arrays
        self.version, self.kinds = version, list(choices.kinds)
        with seldom_evaluated():
            system = model.build()
        variables = select_variables(system, **choices.selections)
        self.left_out = count_hidden(system, variables)
        by = checked_paths(system, choices.derivatives)
        outputs = differentiated(variables)
        self.program = _program(system, choices, derivatives=(by, slots_of(outputs)))
        self.indicators = self.program.indicators
        variables = (*variables, *derivative_outputs(system, by, outputs))
        all_variables, indicator_names = self._with_exchanged_model(system, variables)
        renamed = naming.renamed(all_variables, self._elements_of_arrays(all_variables, has_arrays))
        new_names = {before.name: after.name for before, after in zip(all_variables, renamed, strict=True)}
        indicator_names = [new_names.get(name, name) for name in indicator_names]
        clocks = _output_clocks(self.program, naming)
        self.interface = ExportedInterface.of_model(
            model, renamed, dict(choices.settings), naming=naming.kind, has_arrays=has_arrays
        )
        self._add_functions(system, choices, has_frames=any(v.angle is not None for v in renamed))
        self.terminals = terminals(system, self.interface) if version == 3 else None
        entry_points = [name for name in ENTRY_POINTS if f"lowered_{name}" in self.program.functions]
        self.code = machine_code(self.program, entry_points, RAISED) if choices.has_library else None
        self.files = [SHELL / f"{name}.c" for name in (*COMMON, f"fmi{version}")]
        is_printed = choices.history_entries is not None
        room = 0 if choices.history_entries is None else history_room(self.program, choices.history_entries)
        code_in_c = _printed_in_c(self.program, entry_points) if is_printed else ""
        self._write_texts(
            partial(model_tables, self.program, self.interface, self.kinds, version, room),
            partial(self._describe, indicator_names, clocks, is_printed),
            code_in_c,
        )
        self.printed: dict[str, bytes] = {}
        if is_printed:
            generated = {"model.c": self.tables, "code.c": code_in_c}
            self.printed = source_files(SHELL, self.files, self.interface.identifier, version, generated)

    def _add_functions(self, system: cosim.System, choices: NativeChoices, *, has_frames: bool) -> None:
        """Add the functions of derivatives and of frames to the program, if they are needed."""
        functions = self.program.functions
        if choices.has_tangents:
            functions |= _exact_derivatives(system, self.version)
        if has_frames:
            functions |= frame_functions()

    def _write_texts(
        self, tables: Callable[[str, bytes], str], description: Callable[[str], bytes], code_in_c: str
    ) -> None:
        """Write the texts that contain the token, a digest of all texts with an empty token."""
        digest = _digest(
            "" if self.code is None else self.code.digest,
            code_in_c,
            (self.terminals or b"").decode(),
            tables("", bytes(DIGEST_SIZE)),
            description("").decode(),
            *(file.read_text("utf-8") for file in sorted(SHELL.glob("*.[ch]"))),
        )
        self.token = str(uuid.UUID(bytes=digest))
        if self.version == 2:
            self.token = f"{{{self.token}}}"
        self.tables = tables(self.token, digest)
        self.description = description(self.token)

    def _with_exchanged_model(
        self, system: cosim.System, variables: Sequence[FmuVariable]
    ) -> tuple[Sequence[FmuVariable], Sequence[str]]:
        """The variables, for Model Exchange with all states and event indicators; names of the indicators."""
        if "me" not in self.kinds:
            return variables, ()
        variables = with_all_states(system, variables, self.program.reset_states)
        if self.version == 3:
            return with_indicators(variables, {path: at for path, (at, _) in self.indicators.items()})
        return variables, list(self.indicators)

    def _elements_of_arrays(self, variables: Sequence[FmuVariable], has_arrays: bool) -> set[str]:
        """Names of variables that are elements of an array of FMI 3.0."""
        if self.version != 3 or not has_arrays:
            return set()
        return {v.name for array in arrays_of(variables) if array.dimensions for v in array.elements}

    def _describe(
        self, indicators: Sequence[str], clocks: Mapping[str, Any], is_printed: bool, token: str
    ) -> bytes:
        """``modelDescription.xml`` with a token."""
        units = []
        if is_printed:
            units = compiled_files([*(file.name for file in self.files), "model.c", "code.c"])
        tool = f"cosim-framework {cosim.__version__}"
        return describe(self.version, self.kinds, self.interface, tool, token, indicators, clocks, units)

    @property
    def codes(self) -> list[MachineCode]:
        """The machine code that libraries are linked with."""
        return [] if self.code is None else [self.code]

    @property
    def generated(self) -> dict[str, str]:
        """The C files that are generated for this model, by name."""
        return {"model.c": self.tables}


def _exact_derivatives(system: cosim.System, version: int) -> dict[str, tuple[Callable[..., Any], str]]:
    """Tangents, and for FMI 3.0 adjoints; their modules are imported only if they are needed."""
    from cosim_lowering.tangent_function import adjoint_functions, tangent_functions

    return tangent_functions(system) | (adjoint_functions(system) if version == 3 else {})


def _printed_in_c(program: Program, entry_points: Sequence[str]) -> str:
    """The functions of a program as C; the printer is imported only for sources."""
    from cosim_lowering.c_program import CProgram

    return CProgram(program, entry_points, RAISED).text


def _program(
    system: cosim.System, choices: NativeChoices, derivatives: tuple[list[str], list[Slot]]
) -> Program:
    """The run of a system as machine code."""
    settings = choices.settings
    program = Program(
        system,
        settings["integrator"],
        accuracy=settings["accuracy"],
        state=first_state(system),
        derivatives=derivatives,
        **settings["integrator_options"],
    )
    program.require()
    if not choices.has_clocks:
        program.periodic = {}
    return program


def _output_clocks(program: Program, naming: Naming) -> dict[str, Any]:
    """Periodic events by the names of their clocks."""
    clocks = {naming.path(path): clock for path, clock in program.periodic.items()}
    if len(clocks) < len(program.periodic):
        text = "two output clocks would have one name: leave them out (clocks)"
        raise cosim.ModelError.of("naming", text)
    return clocks


def _digest(*texts: str) -> bytes:
    digest = sha256()
    for text in texts:
        digest.update(f"{len(text)}\0{text}".encode())
    return digest.digest()[:DIGEST_SIZE]
