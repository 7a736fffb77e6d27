"""The blocks of the schedule that the kernel functions and handlers of parts become."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from itertools import chain
from typing import Any

import numpy as np

from cosim.component.argument import Argument
from cosim.component.component import Component
from cosim.component.kernel_function import KernelFunction
from cosim.errors import CosimError
from cosim.stage import Stage
from cosim.system import adapter
from cosim.system.blocks import Block, Slot
from cosim.system.row_plan import OWN_ROLES, RowPlan

Assembly = Any


class PartBlocks:
    """Makes blocks of functions: a function of a class has one plan, and each part brings its slots.

    Parameters
    ----------
    assembly : Assembly
        Gets the blocks, the updates, the handlers and the auto-update variables.
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._plans: dict[tuple[type, str], RowPlan] = {}
        self._python_functions: dict[tuple[type, str], Any] = {}
        self._numbers = {name: i for i, name in enumerate(assembly.parts_by_name)}

    def make_all(self) -> None:
        """Make the blocks of all parts, in order of parts, then of declaration."""
        assembly, functions_of = self._assembly, cache(self._functions)
        for alike in assembly.alike:
            for part in alike.parts:
                cls: type[Component] = type(part)
                kernels, handlers = functions_of(cls)
                owner = (part.name,)  # the blocks of a part share it
                for kernel, plan, is_switched in kernels:
                    if not is_switched or kernel.applies_to(partial(assembly.conditions.is_met, part)):
                        self._add_blocks(part, kernel, plan, owner)
                for name, function in handlers:
                    assembly.handlers[part.name, name] = self._handler_block(part, name, function)

    def _functions(
        self, cls: type[Component]
    ) -> tuple[list[tuple[KernelFunction, RowPlan, bool]], list[tuple[str, KernelFunction]]]:
        """The kernel functions of a class, with whether they depend on a condition, and its handlers."""
        kernels = [
            (kernel, self._plan(cls, name, kernel), bool(kernel.when or kernel.unless))
            for name, kernel in chain(cls.kernels.items(), cls.kink_functions.items())
        ]
        return kernels, [(n, h.function) for n, h in cls.handlers.items() if not h.function.is_python]

    def _plan(self, cls: type[Component], name: str, kernel: KernelFunction) -> RowPlan:
        """The plan of the rows of a function, made once for its class."""
        key = (cls, name)
        if key not in self._plans:
            self._plans[key] = RowPlan(cls, name, kernel)
        return self._plans[key]

    def _add_blocks(self, part: Component, kernel: KernelFunction, plan: RowPlan, owner: tuple[str]) -> None:
        """Add the blocks of a kernel function of a part: one, or one for each attachment to all of a kind."""
        assembly = self._assembly
        try:
            choices = self._row_choices(part, plan)
        except (CosimError, KeyError) as error:
            assembly.problem(part.name, str(error))
            return
        for slots in choices:
            block = self._make_block(part, kernel, plan, slots, owner)
            if kernel.role == "update":
                self._add_update(part, kernel, block, slots)
            else:
                assembly.blocks.append(block)
            for argument in plan.next:
                assembly.swaps.append((slots[argument.name], assembly.layout.slots[part.name][argument.of]))

    def _make_block(
        self,
        part: Component,
        kernel: KernelFunction,
        plan: RowPlan,
        slots: Mapping[str, Slot],
        owner: tuple[str],
    ) -> Block:
        """The block of a kernel function with these slots, a row for each element of the part."""
        count = self._assembly.elements.get(part.name, 1)
        rows, writes = plan.rows(slots, count), plan.slots_written(slots)
        function = plan.function if not kernel.is_python else self._python_function(part, kernel, plan)
        if kernel.is_python:
            rows = [[*row, self._numbers[part.name]] for row in rows]
        elif plan.has_result:
            result = self._assembly.own_slot(part, plan.name, count)
            writes += (result,)
            rows = [[*row, result.offset + i] for i, row in enumerate(rows)]
        return Block(
            function,
            rows,
            _declared_stage(part, kernel, plan.stage),
            plan.slots_read(slots),
            writes,
            plan.slots_added(slots),
            plan.name,
            owner if count == 1 else owner * count,
            kernel.is_python,
            True,
            find_flows=plan.find_flows if count == 1 else None,
            find_element_flows=plan.find_element_flows if count == 1 else None,
        )

    def _python_function(self, part: Component, kernel: KernelFunction, plan: RowPlan) -> Any:
        """The function that calls a method in plain Python, made once for its class."""
        key = (type(part), plan.name)
        if key not in self._python_functions:
            instances = self._assembly.instances
            self._python_functions[key] = adapter.python_block(key[0], kernel, plan.arguments, instances)
        return self._python_functions[key]

    def _add_update(
        self, part: Component, kernel: KernelFunction, block: Block, slots: Mapping[str, Slot]
    ) -> None:
        """Add a block that updates histories, and note the slots of the signals that these remember."""
        assembly = self._assembly
        signals = [d.options["of"] for d in part.declarations.values() if d.kind == "history"]
        assembly.remembered[part.name] = [slots[name] for name in signals if name in slots]
        assembly.remembered_rates |= {slots[f"{name}_dot"] for name in signals if f"{name}_dot" in slots}
        assembly.updates[kernel.at].append(block)

    def _handler_block(self, part: Component, name: str, kernel: KernelFunction) -> Block:
        """The block of a handler: called by itself, at its events, and not merged with others."""
        plan = self._plan(type(part), name, kernel)
        slots = self._row_choices(part, plan)[0]
        count = self._assembly.elements.get(part.name, 1)
        rows = plan.rows(slots, count)
        if plan.has_result:
            status = self._assembly.own_slot(part, name, 1)
            rows = [[*row, status.offset] for row in rows]
        table, reads, writes = (
            np.array(rows, dtype=np.int64),
            plan.slots_read(slots),
            plan.slots_written(slots),
        )
        return Block(plan.function, table, Stage.REPORT, reads, writes, (), name, (part.name,) * count)

    def _row_choices(self, part: Component, plan: RowPlan) -> list[dict[str, Slot]]:
        """Slots by argument name: one dictionary, or one for each attachment (or collected slot)."""
        assembly = self._assembly
        part_slots = assembly.layout.slots[part.name]
        if plan.has_own_alone and plan.own_names <= part_slots.keys():
            return [part_slots]
        choices: list[dict[str, Slot]] = [{}]
        for argument in plan.collected:
            collected = self._collected(argument.slot, part)
            choices = [{**c, argument.name: s} for c in choices for s in collected]
        for attachment, kind in plan.repeated.items():
            count = len(kind.attachable(assembly))
            choices = [{**c, f"@{attachment}": Slot("", i, 0)} for c in choices for i in range(count)]
        for choice in choices:
            for name in plan.own:
                choice[name] = part_slots[name]
            for argument in plan.placed:
                choice[argument.name] = argument_slot(assembly, part, argument, choice)
        return choices

    def _collected(self, slot: str, part: Component) -> list[Slot]:
        """The scalar slots of a name that other parts declare, in the cache."""
        assembly, slots = self._assembly, []
        for name, other_part in assembly.parts_by_name.items():
            declared = other_part.declarations.get(slot)
            if other_part is not part and declared is not None and declared.size == 1:
                slots.append(assembly.wiring.in_cache(assembly.layout.slots[name][slot], f"{name}.{slot}"))
        return slots


def argument_slot(
    assembly: Assembly, part: Component, argument: Argument, choice: Mapping[str, Slot]
) -> Slot:
    """The slot that a function of a part gets for an argument; `choice` says which of several attachments."""
    if argument.role in OWN_ROLES:
        slot: Slot = assembly.layout.slots[part.name][argument.name]
    elif argument.role == "side":
        slot = assembly.side
    elif argument.role == "smoothness":
        if part.name not in assembly.smoothness:
            assembly.smoothness[part.name] = assembly.allocate("smoothness", 1, part.name)
        slot = assembly.smoothness[part.name]
    elif argument.role == "next":
        slot = assembly.own_slot(part, argument.name, part.declarations[argument.of].size)
    else:
        chosen = choice.get(f"@{argument.of}")
        kind = part.declarations[argument.of].options["attachment"]
        slot = kind.slot_of(assembly, part, argument, None if chosen is None else chosen.offset)
    return slot


def _declared_stage(part: Component, kernel: KernelFunction, least: Stage) -> Stage:
    """The stage that the author of a function asks for, or an option of the part; `least` at least."""
    stage = kernel.stage or Stage.INSTANCE
    if isinstance(stage, str):
        stage = Stage[part.values.options[stage].upper()]
    return stage if stage >= least else least
