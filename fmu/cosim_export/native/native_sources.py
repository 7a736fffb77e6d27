"""Everything that the libraries of a native FMU are built from."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import cosim
from cosim_export.interface.fmu_exporter import first_state, left_out
from cosim_export.interface.fmu_interface import FmuInterface
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
from cosim_lowering.c_program import CProgram
from cosim_lowering.frame_functions import frame_functions
from cosim_lowering.linking import machine_code
from cosim_lowering.machine_code import MachineCode
from cosim_lowering.program import Program
from cosim_lowering.tangent_function import adjoint_functions, tangent_functions

SHELL = Path(__file__).parent / "shell"
COMMON = ("instance", "arrays", "values", "held", "exchange", "saved")


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
        self.version = version
        system = model.build()
        settings = dict(settings or {"integrator": INTEGRATOR, "integrator_options": {}, "accuracy": 1e-6})
        naming = naming or Naming.of("structured", None)
        variables = select_variables(system, **(selections or {}))
        self.left_out = left_out(system, variables)
        by, of = checked_paths(system, derivatives), differentiated(variables)
        self.program = Program(
            system,
            settings["integrator"],
            accuracy=settings["accuracy"],
            state=first_state(system),
            derivatives=(by, slots_of(of)),
            **settings["integrator_options"],
        )
        self.program.require()
        self.kinds = list(("cs", "me") if kinds is None else kinds)
        variables = (*variables, *derivative_outputs(system, by, of))
        self.indicators = self.program.indicators
        shown: Sequence[str] = list(self.indicators) if "me" in self.kinds else ()
        if "me" in self.kinds:
            variables = with_all_states(system, variables, self.program.reset_states)
            if version == 3:
                variables, shown = with_indicators(
                    variables, {p: at for p, (at, _) in self.indicators.items()}
                )
        in_arrays = (
            {v.name for a in arrays_of(variables) if a.dimensions for v in a.elements}
            if version == 3 and has_arrays
            else set()
        )
        renamed = naming.renamed(variables, in_arrays)
        new = {before.name: after.name for before, after in zip(variables, renamed, strict=True)}
        shown = [new.get(name, name) for name in shown]
        if not has_clocks:
            self.program.periodic = {}
        clocks = {naming.path(path): clock for path, clock in self.program.periodic.items()}
        if len(clocks) < len(self.program.periodic):
            text = "two output clocks would have one name: leave them out (clocks)"
            raise cosim.ModelError.of("naming", text)
        variables = renamed
        self.interface = FmuInterface.of_model(
            model, variables, settings, naming=naming.kind, has_arrays=has_arrays
        )
        if has_tangents:
            self.program.functions |= tangent_functions(system)
            self.program.functions |= adjoint_functions(system) if version == 3 else {}
        if any(v.angle is not None for v in variables):
            self.program.functions |= frame_functions()
        present = [name for name in ENTRY_POINTS if f"lowered_{name}" in self.program.functions]
        self.code = machine_code(self.program, present, RAISED) if has_library else None
        room = None if history_entries is None else history_room(self.program, history_entries)
        code_in_c = "" if room is None else CProgram(self.program, present, RAISED).text
        self.files = [SHELL / f"{name}.c" for name in (*COMMON, f"fmi{version}")]
        tables = partial(model_tables, self.program, self.interface, self.kinds, version, room or 0)
        units = (
            compiled_files([*(file.name for file in self.files), "model.c", "code.c"])
            if room is not None
            else []
        )
        tool = f"cosim-framework {cosim.__version__}"

        def description(token: str) -> bytes:
            return describe(version, self.kinds, self.interface, tool, token, shown, clocks, units)

        self.terminals = terminals(system, self.interface) if version == 3 else None
        digest = _digest(
            str(self.code or ""),
            code_in_c,
            (self.terminals or b"").decode(),
            tables("", bytes(16)),
            description("").decode(),
            *(file.read_text("utf-8") for file in sorted(SHELL.glob("*.[ch]"))),
        )
        self.token = str(uuid.UUID(bytes=digest))
        if version == 2:
            self.token = f"{{{self.token}}}"
        self.tables = tables(self.token, digest)
        self.description = description(self.token)
        self.printed: dict[str, bytes] = {}
        if room is not None:
            identifier = self.interface.identifier
            generated = {"model.c": self.tables, "code.c": code_in_c}
            self.printed = source_files(SHELL, self.files, identifier, version, generated)

    @property
    def codes(self) -> list[MachineCode]:
        """What libraries are linked from, besides C."""
        return [] if self.code is None else [self.code]

    @property
    def generated(self) -> dict[str, str]:
        """C files that are written for it, by name."""
        return {"model.c": self.tables}


INTEGRATOR = "integrators.runge_kutta_merson"


def _digest(*texts: str) -> bytes:
    digest = sha256()
    for text in texts:
        digest.update(f"{len(text)}\0{text}".encode())
    return digest.digest()[:16]
