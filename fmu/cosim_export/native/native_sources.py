"""Everything that the libraries of a native FMU are built from."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import Slot
from cosim_export.interface.fmu_exporter import first_state, left_out
from cosim_export.interface.fmu_interface import FmuInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.names import Naming
from cosim_export.interface.select_variables import select_variables
from cosim_export.native.description import describe, with_all_states, with_indicators
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
COMMON = ("instance", "arrays", "values", "held", "exchange", "saved")
"""Files of the shell that both versions of FMI share."""
INTEGRATOR = "integrators.runge_kutta_merson"
DIGEST_SIZE = 16
"""Bytes, those of a UUID."""


class NativeSources:
    """A model as C files, compiled functions and a model description.

    Parameters
    ----------
    model : Model
    version : int
        Of FMI: 2 or 3.
    kinds : sequence of str, optional
        "cs", "me" or both, which it is unless given.
    selections : mapping
        Arguments of `select_variables`.
    settings : mapping
        From `FmuOptions.settings`.
    naming : Naming, optional
    has_arrays : bool
        Whether elements of an array are one variable in FMI 3.0.
    has_clocks : bool
        Whether periodic events are output clocks in FMI 3.0.
    has_tangents : bool
        Whether its functions are differentiated: then directional derivatives are exact.
    has_library : bool
        Whether its functions are compiled for shared libraries.
    derivatives : sequence of str
        Paths of parameters, start values and inputs: the derivatives of all outputs by them along the run are
        outputs, too.
    history_entries : int, optional
        Its functions are printed as C; so many values of a signal can be remembered for each that is.

    Attributes
    ----------
    kinds : list of str
    program : Program
    interface : FmuInterface
    indicators : dict of str to (int, int)
        Path of each witness, where in the cache its value lies, and where in the clock what counts as zero.
    code : MachineCode or None
    printed : dict of str to bytes
        The files of the folder ``sources``; empty unless the functions are printed.
    tables : str
        The generated C file.
    files : list of Path
        The others.
    description : bytes
        ``modelDescription.xml``
    terminals : bytes or None
        ``terminalsAndIcons.xml`` of FMI 3.0.
    left_out : dict of str to int
        See `left_out`.
    token : str
        guid of FMI 2.0, instantiation token of FMI 3.0: a digest of all this.

    Raises
    ------
    ModelError
        Faults of the model; all that cannot be lowered.
    """

    def __init__(
        self,
        model: cosim.Model,
        version: int = 2,
        kinds: Sequence[str] | None = None,
        selections: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        naming: Naming | None = None,
        has_arrays: bool = True,
        has_clocks: bool = True,
        has_library: bool = True,
        history_entries: int | None = None,
        has_tangents: bool = False,
        derivatives: Sequence[str] = (),
    ) -> None:
        self.version, self.kinds = version, list(("cs", "me") if kinds is None else kinds)
        system = model.build()
        settings = dict(settings or {"integrator": INTEGRATOR, "integrator_options": {}, "accuracy": 1e-6})
        naming = naming or Naming.of("structured", None)
        variables = select_variables(system, **(selections or {}))
        self.left_out = left_out(system, variables)
        by, of = checked_paths(system, derivatives), differentiated(variables)
        self.program = _program(system, settings, has_clocks, derivatives=(by, slots_of(of)))
        self.indicators = self.program.indicators
        variables = (*variables, *derivative_outputs(system, by, of))
        all_variables, shown_indicators = self._with_exchanged_model(system, variables)
        renamed = naming.renamed(all_variables, self._elements_of_arrays(all_variables, has_arrays))
        new_names = {before.name: after.name for before, after in zip(all_variables, renamed, strict=True)}
        shown_indicators = [new_names.get(name, name) for name in shown_indicators]
        clocks = _output_clocks(self.program, naming)
        self.interface = FmuInterface.of_model(
            model, renamed, settings, naming=naming.kind, has_arrays=has_arrays
        )
        if has_tangents:
            self.program.functions |= _exact_derivatives(system, version)
        if any(v.angle is not None for v in renamed):
            self.program.functions |= frame_functions()
        self.terminals = terminals(system, self.interface) if version == 3 else None
        entry_points = [name for name in ENTRY_POINTS if f"lowered_{name}" in self.program.functions]
        self.code = machine_code(self.program, entry_points, RAISED) if has_library else None
        self.files = [SHELL / f"{name}.c" for name in (*COMMON, f"fmi{version}")]
        is_printed = history_entries is not None
        room = 0 if history_entries is None else history_room(self.program, history_entries)
        code_in_c = _printed_in_c(self.program, entry_points) if is_printed else ""
        self._write_texts(
            partial(model_tables, self.program, self.interface, self.kinds, version, room),
            partial(self._describe, shown_indicators, clocks, is_printed),
            code_in_c,
        )
        self.printed: dict[str, bytes] = {}
        if is_printed:
            generated = {"model.c": self.tables, "code.c": code_in_c}
            self.printed = source_files(SHELL, self.files, self.interface.identifier, version, generated)

    def _write_texts(
        self, tables: Callable[[str, bytes], str], description: Callable[[str], bytes], code_in_c: str
    ) -> None:
        """What contains the token; the token is a digest of all texts, with none in its place."""
        digest = _digest(
            str(self.code or ""),
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
        """For Model Exchange also all states, and the event indicators with their names."""
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
        """``modelDescription.xml`` with this token."""
        units = []
        if is_printed:
            units = compiled_files([*(file.name for file in self.files), "model.c", "code.c"])
        tool = f"cosim-framework {cosim.__version__}"
        return describe(self.version, self.kinds, self.interface, tool, token, indicators, clocks, units)

    @property
    def codes(self) -> list[MachineCode]:
        """What libraries are linked from, besides C."""
        return [] if self.code is None else [self.code]

    @property
    def generated(self) -> dict[str, str]:
        """C files that are written for it, by name."""
        return {"model.c": self.tables}


def _exact_derivatives(system: cosim.System, version: int) -> dict[str, tuple[Callable[..., Any], str]]:
    """Tangents, and for FMI 3.0 adjoints; what writes them is imported where they are wanted."""
    from cosim_lowering.tangent_function import adjoint_functions, tangent_functions

    return tangent_functions(system) | (adjoint_functions(system) if version == 3 else {})


def _printed_in_c(program: Program, entry_points: Sequence[str]) -> str:
    """The functions of a program as C; what prints them is imported for sources alone."""
    from cosim_lowering.c_program import CProgram

    return CProgram(program, entry_points, RAISED).text


def _program(
    system: cosim.System,
    settings: Mapping[str, Any],
    has_clocks: bool,
    derivatives: tuple[list[str], list[Slot]],
) -> Program:
    """The run of a system as machine code; without output clocks if they are not wanted."""
    program = Program(
        system,
        settings["integrator"],
        accuracy=settings["accuracy"],
        state=first_state(system),
        derivatives=derivatives,
        **settings["integrator_options"],
    )
    program.require()
    if not has_clocks:
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
