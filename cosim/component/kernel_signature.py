"""KernelSignature: a kernel function together with what its arguments may mean and what it does to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from cosim.component.argument import Argument
from cosim.component.argument_names import accumulates, available_names
from cosim.component.declaration import Declaration
from cosim.component.kernel_function import KernelFunction
from cosim_compiler.sources.kernel_effects import Effects, effects_of
from cosim_compiler.sources.kernel_source import where


@dataclass(frozen=True)
class KernelSignature:
    """A kernel function of a component.

    Attributes
    ----------
    kernel : KernelFunction
    declarations : mapping of str to Declaration
        Of the component, by name.
    owner : str
        The component, as errors name it.
    """

    kernel: KernelFunction
    declarations: Mapping[str, Declaration]
    owner: str

    @cached_property
    def available(self) -> dict[str, Argument]:
        """The names that this function may ask for."""
        return available_names(self.kernel, self.declarations)

    @cached_property
    def effects(self) -> Effects:
        """What the function writes, adds to and indexes, by its source."""
        return effects_of(self.kernel.function)

    def declaration_of(self, argument: Argument) -> Declaration | None:
        """The declaration behind an argument; None of the time and what updates receive."""
        return self.declarations.get(argument.of)

    def accumulates(self, argument: Argument) -> bool:
        """Whether several components add to an argument."""
        return accumulates(argument, self.declaration_of(argument))

    def line(self, line: int | None = None) -> str:
        """A line of the function, or its first one, as errors name it."""
        return where(self.kernel.function, line)

    def label(self, argument: Argument) -> str:
        """An argument as the author writes it."""
        return self.kernel.written_name(argument.name)

    def place(self, argument: Argument) -> str:
        """The first element of an argument as the author writes it; of a view a number has no index."""
        is_number_of_view = self.kernel.view and argument.shape == () and not argument.is_free
        return self.label(argument) if is_number_of_view else f"{self.label(argument)}[0]"

    def is_written(self, argument: Argument) -> bool:
        """Whether the function stores into an argument, adds to it, or passes it on to code unknown here."""
        effects = self.effects
        return argument.name in effects.writes | effects.adds | effects.passed_on
