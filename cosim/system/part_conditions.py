"""The conditions by which kernel functions of a part are switched on or off, when a system is built."""

from __future__ import annotations

from typing import Any

from cosim.component.argument_names import known_names
from cosim.component.class_checks import OF_STATE, names_state_of_source
from cosim.component.component import Component
from cosim.system.blocks import Slot

Assembly = Any


class PartConditions:
    """Answers whether a condition is met, as ``when=`` and ``unless=`` of `cosim.kernel` name it.

    Parameters
    ----------
    assembly : Assembly
        Its wiring says which signals are states and which have derivatives.
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        # by part and name, whether the derivative of a source exists; None while that is being found out
        self._derivatives: dict[tuple[str, str], bool | None] = {}

    def is_met(self, part: Component, name: str) -> bool:
        """Whether an option or a condition of a part is true, or an attachment has what it offers."""
        if name in part.values.options:
            return bool(part.values.options[name])
        if name in part.conditions:
            return part.conditions[name](part)
        if names_state_of_source(part.declarations, name):
            slot = source_slot(self._assembly, part, name.removesuffix(OF_STATE))
            return slot is not None and slot.array == "y"
        offered = known_names(part.declarations)[name]
        options = part.declarations[offered.of].options
        if options["provides"] != "source":
            return bool(options["attachment"].has_offer(self._assembly, part, offered))
        return self._has_derivative(part, name)

    def _has_derivative(self, part: Component, name: str) -> bool:
        """Whether the derivative of a source is computed; in a circle: if nothing else in it is missing."""
        key, wiring = (part.name, name), self._assembly.wiring
        if key not in self._derivatives:
            self._derivatives[key] = None
            path = _source_path(part, name.removesuffix("_dot"))
            has_derivative = path is not None and wiring.has_derivative(path, 1)
            was_assumed = self._derivatives[key]
            if was_assumed and not has_derivative:
                wiring.forget_derivatives()
            self._derivatives[key] = has_derivative
        if self._derivatives[key] is None:
            self._derivatives[key] = True
        return bool(self._derivatives[key])


def source_slot(assembly: Assembly, part: Component, attachment: str) -> Slot | None:
    """The place of the signal that a part reads through an attachment; None without one."""
    path = _source_path(part, attachment)
    return None if path is None else assembly.wiring.signal(path).slot


def _source_path(part: Component, attachment: str) -> str | None:
    """The path of the signal that a part reads through an attachment; None without one."""
    source = part.values.attachments.get(attachment)
    path = source.name if isinstance(source, Component) else source
    return path if isinstance(path, str) else None
