"""Assembly: from parts and connections to a layout and a schedule."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cosim.component.argument import Argument
from cosim.component.argument_names import known_names
from cosim.component.component import Component
from cosim.component.declaration import Declaration
from cosim.component.kernel_function import UPDATES_AT
from cosim.component.set_attribute import BUILT
from cosim.contracts.solver import Solver
from cosim.errors import LookUpError, ModelError, Problem
from cosim.stage import Stage
from cosim.system import copy_blocks
from cosim.system.alike_parts import alike_parts, parts_with
from cosim.system.allocation import allocate_quantities
from cosim.system.blocks import STAGES_OF_ARRAYS, Block, Slot
from cosim.system.connection import Connection
from cosim.system.dependency_graph import Graph
from cosim.system.elements import resize
from cosim.system.layout import Layout
from cosim.system.part_blocks import PartBlocks, argument_slot
from cosim.system.part_conditions import PartConditions
from cosim.system.projection import Projection
from cosim.system.timers import check_timers
from cosim.system.unwritten_quantities import check_results, check_sources, mark_unknown
from cosim.system.wiring import Wiring
from cosim.value_text import quote

P = TypeVar("P")


class Assembly:
    """The parts of a system while it is built; a solver adds its blocks to it.

    What comes in which order is in `_build`: places for all quantities (`allocation`), connections and units
    (`wiring`), blocks of the parts (`part_blocks`) and of the solver, and the graph between them all.

    Parameters
    ----------
    parts : mapping of str to Component
        In order of declaration.
    connections : sequence of Connection, or of (source path, input path)
    solver : Solver or None
        Where parts ask for one.

    Attributes
    ----------
    parts_by_name : dict of str to Component
    alike : list of Alike
        The same parts; those that share their declarations stand together.
    elements : dict of str to int
        The number of elements of each part that is written for numbers and takes vectors.
    layout : Layout
        Where each quantity lies.
    start : dict of str to array
        The start values of p, d and k.
    discrete_stage : dict of (str, int) to Stage
        The stage that a number of d or k invalidates, by array and offset.
    wiring : Wiring
    conditions : PartConditions
    blocks : list of Block
        In order of declaration; `graph` says in which order they run.
    updates, handlers : dict
        Blocks that are called at the ends of steps (by `UPDATES_AT`), and at events (by part and name).
    swaps : list of (Slot, Slot)
        Auto-update variables: the slot of the next value, and the variable.
    free_inputs, input_courses : dict of str to slots
        The inputs of the system: their values in d, and their slopes and the times of their values.
    remembered, remembered_rates : dict of str to list of Slot, and set of Slot
        The signals that the histories of a part remember, and the derivatives of these.
    smoothness : dict of str to Slot
        By part where its updates read how smooth their sources are.
    side : Slot
        Where updates read on which side of an instant they are.
    nan_slots : list of Slot
        What is not computed.
    projection : Projection or None
        What the solver does about constraints.
    attachable : dict of str to list
        By kind of attachment, the items of the model that it can be attached to.
    instances : list of Component
        For methods in plain Python, by number.

    Raises
    ------
    ModelError
        All faults of the wiring together.
    """

    def __init__(
        self,
        parts: Mapping[str, Component],
        connections: Sequence[Connection | tuple[str, str]] = (),
        solver: Solver | None = None,
    ) -> None:
        self.parts_by_name = dict(parts)
        self._connections = list(connections)
        self._problems: list[Problem] = []
        self.layout = Layout()
        self.blocks: list[Block] = []
        self.updates: dict[str, list[Block]] = {at: [] for at in UPDATES_AT}
        self.swaps: list[tuple[Slot, Slot]] = []
        self.handlers: dict[tuple[str, str], Block] = {}
        self.free_inputs: dict[str, Slot] = {}
        self.input_courses: dict[str, tuple[Slot, Slot]] = {}  # slope, and time of the value
        self.start = {a: array("d") for a in "pdk"}
        self.discrete_stage: dict[tuple[str, int], Stage] = {}
        self.instances: list[Any] = list(self.parts_by_name.values())
        self.nan_slots: list[Slot] = []
        self.smoothness: dict[str, Slot] = {}
        self.remembered: dict[str, list[Slot]] = {}
        self.remembered_rates: set[Slot] = set()
        self.projection: Projection | None = None
        self.attachable: dict[str, list[Any]] = {}
        self.elements = resize(self.parts_by_name, self.problem)
        self.alike = alike_parts(self.parts_by_name)
        self.dynamics, self.solver = "", solver
        self._raise()
        self._build()
        self._check_unwritten()
        for part in self.parts_by_name.values():
            part.__dict__[BUILT] = True

    def _build(self) -> None:
        """Give all values their places, connect them, make the blocks and the graph of what needs what."""
        self.layout.allocate_states((name, part.declarations) for name, part in self.parts_by_name.items())
        self.side = self.layout.allocate("c", 1, "side")
        allocate_quantities(self)
        self.wiring = Wiring(self)
        self.conditions = PartConditions(self)
        self.wiring.connect(self._connections)
        self._raise()
        PartBlocks(self).make_all()
        if self.solver is not None:
            self.blocks += self.solver.create_blocks(self)
            self.dynamics = self.solver.choice
            self._raise()
        self._zero_accumulators()
        self.graph = Graph(self.blocks, self.layout, self.base_stage)

    def _check_unwritten(self) -> None:
        """Raise the faults that show when all blocks are there: values that no block computes, and timers."""
        written = set(self.graph.writes.numbers.tolist())
        check_results(self, written)
        mark_unknown(self, written)
        check_sources(self, written)
        self._problems += check_timers(self.parts_by_name)
        self._raise()

    # what solvers and kinds of attachments use

    def parts(self, kind: type[P]) -> list[P]:
        """The parts of a class, in order of declaration."""
        return [p for p in self.parts_by_name.values() if isinstance(p, kind)]

    def slot(self, part: Component, name: str) -> Slot:
        """The slot of a part's declared quantity."""
        return self.layout.slots[part.name][name]

    def slots(self, part: Component) -> Mapping[str, Slot]:
        """The slots of all that a part declares."""
        return self.layout.slots[part.name]

    def slot_of_argument(self, part: Component, name: str) -> Slot:
        """The slot that a kernel function of the part gets for an argument of this name."""
        return argument_slot(self, part, known_names(part.declarations)[name], {})

    def derivative(self, part: Component, name: str) -> Slot:
        """The slot of the derivative of a part's state (in the cache)."""
        return self.layout.slots[part.name][f"{name}_dot"]

    def attached(self, part: Component, attachment: str) -> Component:
        """The part that an attachment names."""
        name = self.attached_name(part, attachment)
        if name not in self.parts_by_name:
            raise LookUpError("part", name, self.parts_by_name)
        return self.parts_by_name[name]

    def allocate(self, name: str, size: int, owner: str = "") -> Slot:
        """A work slot in the cache; one that belongs to a part is called by that, too."""
        return self.layout.allocate("c", size, name, owner)

    def accumulator(self, name: str, size: int) -> Slot:
        """A work slot in the cache to which several parts add."""
        slot = self.layout.allocate("c", size, name)
        self._zero(slot, name)
        return slot

    def part(self, name: str) -> Component:
        """The part of that name."""
        return self.parts_by_name[name]

    def nan_slot(self, size: int) -> Slot:
        """A stretch of the cache that holds NaN: what is not computed."""
        for slot in self.nan_slots:
            if slot.size == size:
                return slot
        self.nan_slots.append(self.layout.allocate("c", size, "what is not computed"))
        return self.nan_slots[-1]

    def problem(self, where: str, text: str) -> None:
        """Collect a fault of the model; all are reported together."""
        problem = Problem(where, text)
        if problem not in self._problems:
            self._problems.append(problem)

    @property
    def has_problems(self) -> bool:
        """Whether a fault was collected."""
        return bool(self._problems)

    def constant(self, kind: str, numbers: Sequence[float] | NDArray[np.float64]) -> Slot:
        """A stretch of p, d or k with these start values."""
        self.start[kind].frombytes(np.asarray(numbers, dtype=np.float64).tobytes())
        return self.layout.allocate(kind, len(numbers))

    def base_stage(self, slot: Slot) -> Stage:
        """The stage at which a slot outside the cache is known."""
        array, offset, _ = slot
        if array in STAGES_OF_ARRAYS:
            return STAGES_OF_ARRAYS[array]
        if array == "y":
            if offset < self.layout.nq:
                return Stage.POSITION
            return Stage.VELOCITY if offset < self.layout.nq + self.layout.nu else Stage.DYNAMICS
        if array in "dk":
            return self.discrete_stage.get((array, offset), Stage.TIME)
        return Stage.INSTANCE

    def own_slot(self, part: Component, name: str, size: int) -> Slot:
        """A slot of a part that the part does not declare: allocated at the first call."""
        slots = self.layout.slots[part.name]
        if name not in slots:
            slots[name] = self.allocate(name, size, part.name)
        return slots[name]

    def source_slot(self, part: Component, argument: Argument) -> Slot:
        """The slot of a source's value, or of one of its derivatives."""
        declaration = part.declarations[argument.of]
        size = declaration.size if argument.is_free else argument.size
        if declaration.options["optional"] and part.values.attachments.get(argument.of) is None:
            return self.nan_slot(size)
        path = self.attached_name(part, argument.of)
        order = 0 if argument.slot == "value" else int(argument.slot.removeprefix("value_dot") or 1)
        slot = self.wiring.source(path, self.wiring.paths.source_unit(part, declaration), order)
        if slot.size != size and not (part.elementwise and declaration.shape == ()):
            takes_one = size == 1 and not argument.is_free
            hint = f"name one: {path}[0]" if takes_one else f"{argument.of} takes {size}"
            raise ModelError.of(path, f"'{path}' has {slot.size} elements; {hint}")
        return slot

    def provided(self, argument: Argument, provider: str) -> Slot:
        """The slot that a part of that name offers through an attachment."""
        slot = self.layout.slots.get(provider, {}).get(argument.slot)
        if slot is None:
            providers = [name for name, slots in self.layout.slots.items() if argument.slot in slots]
            if provider not in self.parts_by_name:
                raise LookUpError(argument.of, provider, providers)
            hint = f"; there are: {', '.join(sorted(providers)[:10])}" if providers else ""
            raise ModelError.of("", f"{argument.of} is '{provider}', which has no {argument.slot}{hint}")
        return slot

    def attached_path(self, part: Component, attachment: str) -> str:
        """The path that was passed for an attachment, as text."""
        value = part.values.attachments.get(attachment)
        if value is None:
            raise ModelError.of("", f"{attachment} is missing: give a part or its name")
        path = value.name if isinstance(value, Component) else str(value)
        if isinstance(value, Component) and self.parts_by_name.get(path) is not value:
            raise ModelError.of(
                "", f"{attachment} is {quote(value)}, which is not part of this model: add it first"
            )
        return path

    def attached_name(self, part: Component, attachment: str) -> str:
        """The path that was passed for an attachment; `LookUpError` if it should begin with a part."""
        path = self.attached_path(part, attachment)
        if (
            part.declarations[attachment].options["attachment"].names_part
            and path.split(".")[0].split("[")[0] not in self.parts_by_name
        ):
            raise LookUpError("part", path, self.parts_by_name)
        return path

    def _zero_accumulators(self) -> None:
        """Have all quantities to which parts add begin at 0."""
        for name, _, quantities in parts_with(self.alike, _accumulating):
            for quantity in quantities:
                self._zero(self.layout.slots[name][quantity], f"{name}.{quantity}")

    def _zero(self, slot: Slot, name: str) -> None:
        """Have a slot zeroed before anything adds to it."""
        rows, label = [[slot.offset, slot.size]], f"zeroing of {name}"
        self.blocks.append(
            Block(copy_blocks.zero, rows, Stage.INSTANCE, (), (slot,), (), label, mergeable=True)
        )

    def _raise(self) -> None:
        """Raise all faults that were collected so far."""
        if self._problems:
            raise ModelError(self._problems)


def _accumulating(listed: Mapping[str, Declaration]) -> list[str]:
    """The quantities to which several parts add."""
    return [d.name for d in listed.values() if d.accumulates and d.size]
