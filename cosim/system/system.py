"""System: an immutable description, made of a layout and a schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosim import walker
from cosim.component.component import Component
from cosim.component.history import RING
from cosim.component.kink_functions import SIDE_OF_KINK
from cosim.errors import LookUpError, ModelError, SimulationError, StageError, StateError
from cosim.html_table import html_table
from cosim.stage import Stage
from cosim.system import state_bytes
from cosim.system.alike_parts import names_of_kinds, parts_with
from cosim.system.assembly import Assembly
from cosim.system.auto_updates import list_smoothness, list_swaps
from cosim.system.block_failure import block_failure
from cosim.system.blocks import BlockArrays, Slot
from cosim.system.dependencies import Dependencies
from cosim.system.derivative_structure import derivative_structure
from cosim.system.kink_slots import kink_slots
from cosim.system.parameter_check import ParameterCheck, list_checks
from cosim.system.schedule import Schedule
from cosim.system.start_arrays import new_cache, restart_arrays, start_arrays
from cosim.system.state import State
from cosim.system.system_digest import digest_of
from cosim.system.system_tangents import SystemTangents
from cosim.system.system_variables import SystemVariables
from cosim.value_text import quote
from cosim_compiler import native

if TYPE_CHECKING:
    from cosim.system.system_adjoints import SystemAdjoints

    Model = Any


def check_system(value: object, where: str) -> None:
    """Refuse what is not a system.

    Raises
    ------
    ModelError
        A model is to be built first.
    """
    if not isinstance(value, System):
        word = quote(value) if isinstance(value, type) else f"a {type(value).__name__}"
        build = f"{where}(model.build(), …)" if hasattr(value, "build") else "the system of model.build()"
        raise ModelError.of(where, f"needs a System, not {word}: write {build}")


class System(SystemVariables):
    """An assembled model: what the States of it look like and how they are computed.

    Made by `Model.build`. Nothing of it changes afterwards; only States do.

    Attributes
    ----------
    parts : mapping of str to Component
    nq, nu, nz, ny : int
        Lengths of q, u, z and of y = [q | u | z].
    table : ndarray of int64, shape (blocks, 3)
        For the walker: address, start in `ints`, rows.
    ints : ndarray of int64
        Offsets of all rows.
    derivative_range : (int, int)
        The blocks of one evaluation of the derivatives, stages Time … Acceleration.
    inner_blocks : list of int
        Those of them that a method needs inside its steps, for derivatives alone.
    inner_range : (int, int)
        Where they stand in the table once more, one after the other, behind all others.
    corrections : Corrections
        Which rows at the end of the table correct a solution, see `cosim.contracts.constraints`.
    inputs : tuple of str
        Paths of the inputs that nothing in the model is connected to.
    dynamics : str
        One line of the dynamics solver about how the equations of motion are solved; empty without joints.
    solver : DynamicsSolver or None
        The one that made their blocks.
    """

    instead = "change the model and build it again; what changes in a run is written to a State"
    reading_hints: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("simulate", "run", "solve"), "write cosim.simulate(system, until=…)"),
        **dict.fromkeys(("state", "initial_state"), "write system.default_state()"),
    }

    def __init__(self, assembly: Assembly, model: Model | None = None) -> None:
        if not isinstance(assembly, Assembly):
            raise ModelError.of("System", "is made by a model: write model.build()")
        super().__init__(assembly)
        self.model = model
        self._starts = {} if model is None else dict(model.starts)
        self.parts: Mapping[str, Component] = MappingProxyType(dict(assembly.parts_by_name))
        self.alike = assembly.alike
        layout = assembly.layout
        self.nq, self.nu, self.nz = layout.nq, layout.nu, layout.nz
        self.ny = self.nq + self.nu + self.nz
        rings = [
            (part, ring.part(i, RING))
            for part, _, histories in parts_with(self.alike, partial(names_of_kinds, kinds=("history",)))
            for ring in (layout.slots[part][f"{history}_ring"] for history in histories)
            for i in range(0, ring.size, RING)
        ]
        self.remembering = tuple(part for part, _ in rings)
        self.rings = tuple(ring for _, ring in rings)
        self._schedule = schedule = Schedule(assembly)
        self.blocks, self.handler_blocks = schedule.blocks, schedule.handler_blocks
        self.update_ranges = schedule.update_ranges
        self.table, self.ints = schedule.table, schedule.ints
        self.table.flags.writeable = self.ints.flags.writeable = False
        self.derivative_range, self.inner_range = schedule.derivative_range, schedule.inner_range
        self.inner_blocks, self.corrections = schedule.inner_blocks, schedule.corrections
        self.inputs = tuple(assembly.free_inputs)
        self.dynamics, self.solver = assembly.dynamics, assembly.solver
        self.side = assembly.side.offset
        self.smoothness = list_smoothness(assembly)
        self.handler_stage = {
            key: max([Stage.ACCELERATION, *(self.stage_of(s) for s in block.reads if s.size)])
            for key, block in assembly.handlers.items()
        }
        self.swaps = list_swaps(assembly)
        self._walk = native.compile_function(walker.walk, walker.WALK_SIGNATURE)

    def __reduce__(self) -> Any:
        """The description of the system: the model that builds it again, and the default State to compare."""
        if self.model is None:
            raise TypeError("only a System that a cosim.Model has built can be pickled")
        return _built_again, (self.model, self.default_state().to_bytes())

    def __repr__(self) -> str:
        name = f" '{self.model.name}'" if self.model is not None else ""
        return f"<System{name}: {len(self.parts)} parts, {self.ny} continuous states>"

    def _repr_html_(self) -> str:
        rows = ((v.path, v.kind, ", ".join(dict.fromkeys(v.units))) for v in self.variables.values())
        return html_table(repr(self), [("variable", "kind", "unit"), *rows])

    @cached_property
    def has_updates(self) -> bool:
        """Whether something in it changes at the end of a step: a history, an auto-update variable."""
        return any(len(rows) > 0 for rows in self.update_ranges.values())

    def needed_blocks(self, offsets: Iterable[int]) -> list[int]:
        """Indices of the blocks that compute these offsets of the cache inside a step, in order."""
        return self._schedule.needed.among(range(*self.block_range(Stage.TIME, Stage.REPORT)), offsets)

    def block_range(self, first: Stage, last: Stage) -> tuple[int, int]:
        """Indices of the blocks of the stages `first` … `last`."""
        return self._schedule.stage_ranges[first].start, self._schedule.stage_ranges[last].stop

    def derivative_structure(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The structure of the Jacobian: starts of the columns, shape (ny + 1,), and rows."""
        starts, rows = self._derivative_structure
        return starts.copy(), rows.copy()

    @cached_property
    def _derivative_structure(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        graph = self.assembly.graph
        return derivative_structure([graph.blocks[i] for i in graph.sequence], self.ny)

    @cached_property
    def tangents(self) -> SystemTangents:
        """Tangents of all that the system computes, by states, parameters, inputs and the time."""
        return SystemTangents(self)

    @cached_property
    def adjoints(self) -> SystemAdjoints:
        """Adjoints of all that the system computes, by states, parameters, inputs and the time."""
        from cosim.system.system_adjoints import SystemAdjoints  # most runs need none

        return SystemAdjoints(self)

    @cached_property
    def run_tangents(self) -> SystemTangents:
        """Tangents of all that the system computes, with those of histories, for a run."""
        return SystemTangents(self, with_histories=True) if self.rings else self.tangents

    def realize(self, state: State, stage: Stage) -> None:
        """Walk the schedule up to a stage.

        Raises
        ------
        SimulationError
            A kernel function raised; names the component.
        """
        if stage > Stage.REPORT:
            raise StageError(f"realize({stage.name})", Stage.REPORT, state.stage)
        if state.stage >= stage:
            return
        first, last = self.block_range(state.stage.next, stage)
        failed = self.walk(state, first, last) if first < last else 0
        if failed:
            raise self.failure(state, failed - 1)
        state._stage = stage

    def walk(self, state: State, first: int, last: int) -> int:
        """Call blocks for a State; 0, or 1 + the index of the one that raised."""
        return self.walk_blocks(self.table, first, last, state.time, self.arrays(state))

    def walk_blocks(self, table: NDArray[np.int64], first: int, last: int, time: float, arrays: Any) -> int:
        """`walk` for any table of blocks of this system and any arrays (y, p, d, k, h, c)."""
        if native.is_plain():
            with np.errstate(all="ignore"):
                return int(self._walk(table, self.ints, first, last, time, *arrays))
        return int(self._walk(table, self.ints, first, last, time, *arrays))

    def failure(self, state: State, index: int) -> SimulationError:
        """Call the block of a row of the table that raised again, to say whose it was."""
        return block_failure(self, state, index)

    @cached_property
    def checks(self) -> list[ParameterCheck]:
        """The checks of parameters, in order of parts, then of declaration."""
        return list_checks(self.parts, self.assembly.layout.slots)

    @cached_property
    def options_in_model_exchange(self) -> dict[int, float]:
        """Options that are others where an importer integrates: places in `p`, and their numbers there."""
        numbers = {}
        for name, part in self.parts.items():
            for option, declaration in part.declarations.items():
                instead = declaration.options.get("in_model_exchange", {})
                chosen = part.values.options.get(option)
                if chosen in instead:
                    at = self.assembly.layout.slots[name][option].offset
                    numbers[at] = float(declaration.options["choices"].index(instead[chosen]))
        return numbers

    def slots_named(self, name: str) -> list[Slot]:
        """The slots of all quantities that parts declare under a name, or have under it by their sources."""
        if name not in self._declared_names:
            return []
        slots_of = self.assembly.layout.slots
        declaring = (part for alike in self.alike if name in alike.declarations for part in alike.names)
        slots = [slots_of[part][name] for part in declaring if name in slots_of[part]]
        return [*slots, *kink_slots(self)] if name == SIDE_OF_KINK else slots

    @cached_property
    def _declared_names(self) -> frozenset[str]:
        """The names of all quantities that parts declare."""
        declarations = {id(alike.declarations): alike.declarations for alike in self.alike}
        return frozenset().union(*declarations.values(), [SIDE_OF_KINK])

    # States

    def arrays(self, state: State) -> BlockArrays:
        """The arrays of a State, as compiled code takes them."""
        a = state._arrays
        return BlockArrays(a["y"], a["p"], a["d"], a["k"], a["h"], a["c"])

    def start_arrays(self) -> dict[str, Any]:
        """Fresh arrays with the start values."""
        return {name: array.copy() for name, array in self._start.items()}

    @cached_property
    def _start(self) -> dict[str, Any]:
        return start_arrays(self.assembly)

    def new_cache(self) -> NDArray[np.float64]:
        """A cache of zeros, with NaN in slots whose values are not known."""
        return new_cache(self.assembly)

    def default_state(self) -> State:
        """A State with all start values, at time 0, realized to Model."""
        state = State(self)
        self._write_starts(state)
        return state

    def restart(self, state: State) -> None:
        """Make a State of this system as `default_state` returns it, in the arrays that it has.

        A Step that works on it goes on with the same arrays.
        """
        restart_arrays(state._arrays, {**self._start, "c": self.new_cache()})
        state._clear()
        self._write_starts(state)

    def _write_starts(self, state: State) -> None:
        for path, value in self._starts.items():
            self.write(state, path, value)
        state.jumped = False

    def state_from_bytes(self, data: bytes) -> State:
        """A State from `State.to_bytes`, also of another process; `StateError` for anything else."""
        return state_bytes.unpack(self, data)

    # dependencies

    def direct_feedthrough(self, path: str) -> set[str]:
        """The inputs of the system that a signal depends on at the same instant."""
        return self._dependencies.on_inputs(self.signal(path).slot)

    def discrete_signals(self) -> set[str]:
        """Discrete variables, and declared outputs that blocks compute from these and parameters alone."""
        return self._dependencies.discrete()

    def dependencies(self, path: str) -> set[str]:
        """Parameters, states and inputs that a signal depends on at the same instant."""
        return self._dependencies.names(self._dependencies.behind(self.signal(path).slot))

    def initial_dependencies(self, path: str) -> set[str]:
        """Parameters, states and inputs that a signal depends on when a simulation is initialized.

        What remembers (a delay, a held sample) has no past then: it depends on what it remembers as well.
        """
        return self._dependencies.names(self._dependencies.behind_at_start(self.signal(path).slot))

    def sources(self, path: str, *, initially: bool = False) -> set[tuple[str, int]]:
        """`dependencies`, or `initial_dependencies`, as places: array and offset of each number.

        Inputs of the system lie in d; ("t", 0) is the time.
        """
        return set(self._dependencies.places_behind(self.signal(path).slot, initially))

    @cached_property
    def _dependencies(self) -> Dependencies:
        return Dependencies(self)

    @cached_property
    def digest(self) -> str:
        """Hexadecimal; equal for systems whose States are interchangeable."""
        return digest_of(self)

    def export_fmu(self, path: Any, **options: Any) -> Any:
        """Write this system as an FMU; see `Model.export_fmu`."""
        if self.model is None:
            raise LookUpError(
                "model", "of this system", [], "Build the system from a cosim.Model to export it."
            )
        return self.model.export_fmu(path, **options)


def _built_again(model: Model, default: bytes) -> System:
    """A system from its description; `StateError` unless it has the same digest and default State."""
    system: System = model.build()
    if system.state_from_bytes(default).to_bytes() != system.default_state().to_bytes():
        raise StateError(
            f"the system that was built again from model '{model.name}' starts with other values: the model "
            "was changed after it was built, or a component is another one in this process"
        )
    return system
