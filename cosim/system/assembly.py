"""Assembly: from parts and connections to a layout and a schedule."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cosim.component.argument import Argument
from cosim.component.argument_names import known_names
from cosim.component.attachment import Attachment
from cosim.component.class_checks import OF_STATE, names_state_of_source
from cosim.component.component import Component
from cosim.component.declaration import Declaration
from cosim.component.history import ENTRIES, ENTRY_WIDTH, empty_ring
from cosim.component.kernel_function import UPDATES_AT, KernelFunction
from cosim.component.set_attribute import BUILT
from cosim.contracts.solver import Solver
from cosim.errors import CosimError, LookUpError, ModelError, Problem
from cosim.stage import Stage
from cosim.system import adapter, copy_blocks
from cosim.system.alike_parts import OfDeclarations, alike_parts, parts_with
from cosim.system.blocks import STAGES_OF_ARRAYS, Block, Slot
from cosim.system.connection import Connection
from cosim.system.dependency_graph import Graph
from cosim.system.elements import resize
from cosim.system.layout import Layout
from cosim.system.projection import Projection
from cosim.system.row_plan import OWN_ROLES, RowPlan
from cosim.system.timers import check_timers
from cosim.system.unwritten_quantities import check_results, check_sources, mark_unknown
from cosim.system.wiring import Wiring
from cosim.value_text import quote

P = TypeVar("P")
CACHE_KINDS = ("cache", "output", "input")


class Assembly:
    """The parts of a system while it is built; a solver adds its blocks to it.

    Parameters
    ----------
    parts : mapping of str to Component
        In order of declaration.
    connections : sequence of Connection, or of (source path, input path)
    solver : Solver or None
        Where parts ask for one.

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
        self._plans: dict[tuple[type, str], RowPlan] = {}
        self._numbers = {name: i for i, name in enumerate(self.parts_by_name)}
        self.nan_slots: list[Slot] = []
        self.smoothness: dict[str, Slot] = {}
        self.remembered: dict[str, list[Slot]] = {}
        self.remembered_rates: set[Slot] = set()
        self._derivatives: dict[tuple[str, str], bool | None] = {}  # None: not known yet
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
        self._allocate()
        self.wiring = Wiring(self)
        self.wiring.connect(self._connections)
        self._raise()
        self._make_blocks()
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

    # what a solver uses

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
        return self._argument_slot(part, known_names(part.declarations)[name], {})

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

    # layout

    def _allocate(self) -> None:
        """Quantity by quantity: a block has a row for each part of a class, and walks through memory then.

        Which parts are alike follows from what they declare: in another process other objects may say so.
        """
        layout = self.layout
        layout.allocate_states((name, part.declarations) for name, part in self.parts_by_name.items())
        self.side = layout.allocate("c", 1, "side")
        kinds = OfDeclarations(lambda listed: tuple((d.name, d.kind, d.size) for d in listed.values()))
        alike: dict[Any, list[Component]] = {}
        for run in self.alike:
            alike.setdefault(kinds.of(run.declarations), []).extend(run.parts)
        for parts in alike.values():
            owners = [part.name for part in parts]
            slots_of = [layout.slots[owner] for owner in owners]
            for declarations in zip(*(part.declarations.values() for part in parts), strict=True):
                key, kind, size = declarations[0].name, declarations[0].kind, declarations[0].size
                if kind in CACHE_KINDS and kind != "input":
                    new_slots = layout.allocate_each("c", size, key, owners)
                elif kind == "parameter":
                    numbers = [_repeated(part.values.numbers[key], size) for part in parts]
                    self.start["p"].frombytes(np.concatenate(numbers, dtype=np.float64).tobytes())
                    new_slots = layout.allocate_each("p", size, "", owners)
                elif kind == "option":
                    self.start["p"].extend(_option_number(part, key) for part in parts)
                    new_slots = layout.allocate_each("p", 1, "", owners)
                else:
                    for part, declaration in zip(parts, declarations, strict=True):
                        self._allocate_declared(part.name, part, declaration)
                    continue
                for slots, slot in zip(slots_of, new_slots, strict=True):
                    slots[key] = slot

    def _allocate_declared(self, name: str, part: Component, declaration: Declaration) -> None:
        """Allocate the slots of a declaration of a part, where each part has its own way to the numbers."""
        layout, key, kind, size = self.layout, declaration.name, declaration.kind, declaration.size
        slots, start_values = layout.slots[name], part.values.numbers
        if kind == "input":
            slots[key] = layout.allocate("c", size, key, name)
            slots[f"{key}_dot"] = layout.allocate("c", size, f"{key}_dot", name)
        elif kind in ("discrete", "integer", "signal"):
            numbers = _repeated(start_values.get(key, np.zeros(1)), size)
            slots[key] = slot = self.constant("d" if kind == "discrete" else "k", numbers)
            for i in range(size):
                self.discrete_stage[slot.array, slot.offset + i] = _invalidated(part, declaration)
        elif kind == "history":
            count, room = self.elements.get(name, 1), ENTRIES * ENTRY_WIDTH
            first = layout.allocate("h", count * room)
            starts = [first.offset + i * room for i in range(count)]
            ring = self.constant("k", [n for start in starts for n in empty_ring(start)])
            slots[key], slots[f"{key}_ring"] = first, ring
            for i in range(ring.size):
                self.discrete_stage["k", ring.offset + i] = Stage.TIME

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

    # blocks of components

    def _make_blocks(self) -> None:
        functions_of = cache(self._functions)
        for alike in self.alike:
            for part in alike.parts:
                kernels, handlers = functions_of(type(part))
                owner = (part.name,)  # the blocks of a part share it
                for kernel, plan, is_switched in kernels:
                    if not is_switched or kernel.applies_to(partial(self.meets_condition, part)):
                        self._make_block(part, kernel, plan, owner)
                for name, function in handlers:
                    self.handlers[part.name, name] = self._handler_block(part, name, function)

    def _functions(
        self, cls: type[Component]
    ) -> tuple[list[tuple[KernelFunction, RowPlan, bool]], list[tuple[str, KernelFunction]]]:
        """The kernel functions of a class, with whether they depend on a condition, and its handlers."""
        kernels = [
            (kernel, self._plan(cls, name, kernel), bool(kernel.when or kernel.unless))
            for name, kernel in chain(cls.kernels.items(), cls.kink_functions.items())
        ]
        return kernels, [(n, h.function) for n, h in cls.handlers.items() if not h.function.is_python]

    def _make_block(self, part: Component, kernel: KernelFunction, plan: RowPlan, owner: tuple[str]) -> None:
        name = plan.name
        try:
            choices = self._row_choices(part, plan)
        except (CosimError, KeyError) as error:
            self.problem(part.name, str(error))
            return
        function = self._python_function(part, kernel, plan) if kernel.is_python else plan.function
        count = self.elements.get(part.name, 1)
        for slots in choices:
            rows = plan.rows(slots, count)
            writes = plan.slots_written(slots)
            if kernel.is_python:
                rows = [[*row, self._numbers[part.name]] for row in rows]
            elif plan.has_result:
                result = self._own_slot(part, name, count)
                writes += (result,)
                rows = [[*row, result.offset + i] for i, row in enumerate(rows)]
            block = Block(
                function,
                rows,
                _declared_stage(part, kernel, plan.stage),
                plan.slots_read(slots),
                writes,
                plan.slots_added(slots),
                name,
                owner if count == 1 else owner * count,
                kernel.is_python,
                True,
                find_flows=plan.find_flows if count == 1 else None,
                find_element_flows=plan.find_element_flows if count == 1 else None,
            )
            if kernel.role == "update":
                self._add_update(part, kernel, block, slots)
            else:
                self.blocks.append(block)
            for argument in plan.next:
                self.swaps.append((slots[argument.name], self.layout.slots[part.name][argument.of]))

    def _add_update(
        self, part: Component, kernel: KernelFunction, block: Block, slots: Mapping[str, Slot]
    ) -> None:
        """Add a block that updates histories, and note the slots of the signals that these remember."""
        signals = [d.options["of"] for d in part.declarations.values() if d.kind == "history"]
        self.remembered[part.name] = [slots[name] for name in signals if name in slots]
        self.remembered_rates |= {slots[f"{name}_dot"] for name in signals if f"{name}_dot" in slots}
        self.updates[kernel.at].append(block)

    def _own_slot(self, part: Component, name: str, size: int) -> Slot:
        """A slot of a part that the part does not declare: allocated at the first call."""
        slots = self.layout.slots[part.name]
        if name not in slots:
            slots[name] = self.allocate(name, size, part.name)
        return slots[name]

    def _plan(self, cls: type[Component], name: str, kernel: KernelFunction) -> RowPlan:
        key = (cls, name)
        if key not in self._plans:
            self._plans[key] = RowPlan(cls, name, kernel)
        return self._plans[key]

    def meets_condition(self, part: Component, name: str) -> bool:
        """Whether an option or a condition holds for a part, or an attachment has what it offers."""
        if name in part.values.options:
            return bool(part.values.options[name])
        if name in part.conditions:
            return part.conditions[name](part)
        if names_state_of_source(part.declarations, name):
            source = part.values.attachments.get(name.removesuffix(OF_STATE))
            path = source.name if isinstance(source, Component) else source
            return isinstance(path, str) and self.wiring.signal(path).slot.array == "y"
        offered = known_names(part.declarations)[name]
        if part.declarations[offered.of].options["provides"] != "source":
            return bool(part.declarations[offered.of].options["attachment"].has(self, part, offered))
        key = (part.name, name)
        if key not in self._derivatives:
            self._derivatives[key] = None
            source = part.values.attachments.get(name.removesuffix("_dot"))
            path = source.name if isinstance(source, Component) else source
            has_derivative = path is not None and self.wiring.has_derivative(path, 1)
            if not has_derivative and self._derivatives[key]:
                self.wiring.forget_derivatives()
            self._derivatives[key] = has_derivative
        if self._derivatives[key] is None:
            self._derivatives[key] = True  # in a circle: if nothing else in it is missing
        return bool(self._derivatives[key])

    def _python_function(self, part: Component, kernel: KernelFunction, plan: RowPlan) -> Any:
        key = (type(part), plan.name)
        cached = self.__dict__.setdefault("_python_blocks", {})
        if key not in cached:
            cached[key] = adapter.python_block(type(part), kernel, plan.arguments, self.instances)
        return cached[key]

    def _handler_block(self, part: Component, name: str, kernel: KernelFunction) -> Block:
        plan = self._plan(type(part), name, kernel)
        slots = self._row_choices(part, plan)[0]
        count = self.elements.get(part.name, 1)
        rows = plan.rows(slots, count)
        if plan.has_result:
            status = self._own_slot(part, name, 1)
            rows = [[*row, status.offset] for row in rows]
        function = plan.function
        table, reads, writes = (
            np.array(rows, dtype=np.int64),
            plan.slots_read(slots),
            plan.slots_written(slots),
        )
        return Block(function, table, Stage.REPORT, reads, writes, (), name, (part.name,) * count)

    def _row_choices(self, part: Component, plan: RowPlan) -> list[dict[str, Slot]]:
        """Slots by argument name: one dictionary, or one for each attachment (or collected slot)."""
        if plan.has_own_alone and plan.own_names <= self.layout.slots[part.name].keys():
            return [self.layout.slots[part.name]]
        choices: list[dict[str, Slot]] = [{}]
        for argument in plan.collected:
            collected = self._collected(argument.slot, part)
            choices = [{**c, argument.name: s} for c in choices for s in collected]
        for attachment, kind in plan.repeated.items():
            count = len(kind.everything(self))
            choices = [{**c, f"@{attachment}": Slot("", i, 0)} for c in choices for i in range(count)]
        part_slots = self.layout.slots[part.name]
        for choice in choices:
            for name in plan.own:
                choice[name] = part_slots[name]
            for argument in plan.placed:
                choice[argument.name] = self._argument_slot(part, argument, choice)
        return choices

    def _argument_slot(self, part: Component, argument: Argument, choice: Mapping[str, Slot]) -> Slot:
        if argument.role in OWN_ROLES:
            return self.layout.slots[part.name][argument.name]
        if argument.role == "side":
            return self.side
        if argument.role == "smoothness":
            if part.name not in self.smoothness:
                self.smoothness[part.name] = self.allocate("smoothness", 1, part.name)
            return self.smoothness[part.name]
        if argument.role == "next":
            return self._own_slot(part, argument.name, part.declarations[argument.of].size)
        return self._offered_slot(part, argument, choice)

    def _offered_slot(self, part: Component, argument: Argument, choice: Mapping[str, Slot]) -> Slot:
        kind: Attachment = part.declarations[argument.of].options["attachment"]
        chosen = choice.get(f"@{argument.of}")
        slot: Slot = kind.slot(self, part, argument, None if chosen is None else chosen.offset)
        return slot

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

    def _collected(self, slot: str, part: Component) -> list[Slot]:
        slots = []
        for name, other_part in self.parts_by_name.items():
            if (
                other_part is not part
                and slot in other_part.declarations
                and other_part.declarations[slot].size == 1
            ):
                slots.append(self.wiring.in_cache(self.layout.slots[name][slot], f"{name}.{slot}"))
        return slots

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
        for name, _, quantities in parts_with(self.alike, _accumulating):
            for quantity in quantities:
                self._zero(self.layout.slots[name][quantity], f"{name}.{quantity}")

    def _zero(self, slot: Slot, name: str) -> None:
        rows, label = [[slot.offset, slot.size]], f"zeroing of {name}"
        self.blocks.append(
            Block(copy_blocks.zero, rows, Stage.INSTANCE, (), (slot,), (), label, mergeable=True)
        )

    def _raise(self) -> None:
        if self._problems:
            raise ModelError(self._problems)


def _accumulating(listed: Mapping[str, Declaration]) -> list[str]:
    """The quantities to which several parts add."""
    return [d.name for d in listed.values() if d.accumulates and d.size]


def _repeated(numbers: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The numbers, one for each element; a single number is repeated."""
    return np.repeat(numbers, size) if numbers.size == 1 != size else numbers


def _declared_stage(part: Component, kernel: KernelFunction, least: Stage) -> Stage:
    """The stage that the author of a function asks for, or an option of the part; `least` at least."""
    stage = kernel.stage or Stage.INSTANCE
    if isinstance(stage, str):
        stage = Stage[part.values.options[stage].upper()]
    return stage if stage >= least else least


def _invalidated(part: Component, declaration: Declaration) -> Stage:
    """The stage that a discrete variable invalidates; an option may say it."""
    stage = declaration.invalidates
    return stage if isinstance(stage, Stage) else Stage[str(part.values.options[stage]).upper()]


def _option_number(part: Component, name: str) -> float:
    value = part.values.options[name]
    choices = part.declarations[name].options.get("choices")
    if part.declarations[name].options.get("text"):
        return 0.0  # for people
    return float(choices.index(value)) if choices is not None and isinstance(value, str) else float(value)
