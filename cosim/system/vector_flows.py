"""The elements of vectors from which a kernel function computes others: declared, or followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cosim.component.argument import Argument
from cosim.component.argument_types import array_of, types_of
from cosim.component.component import Component
from cosim.component.kernel_function import KernelFunction
from cosim.system.blocks import Flows, Slot
from cosim_compiler.errors import ContractError

SHORT = 8
"""Vectors of so many elements count as one: little is gained, and their Jacobians stay what they were."""

Runs = tuple[tuple[str, int, int], ...]
"""Elements that follow each other, of arguments: name, first element, number."""


class VectorFlows:
    """Follows a kernel function of a class, once for each set of lengths of its vectors.

    Parameters
    ----------
    cls : type of Component
    kernel : KernelFunction
    arguments : sequence of Argument
        All of the kernel function.
    """

    def __init__(self, cls: type[Component], kernel: KernelFunction, arguments: Sequence[Argument]) -> None:
        self._cls, self._kernel = cls, kernel
        self._arguments = [a for a in arguments if a.role != "switch"]
        states = {a.name: cls.declarations[a.of] for a in arguments if a.role == "derivative"}
        self._bands = {name: d.options["band"] for name, d in states.items() if "band" in d.options}
        self._found: dict[tuple[int, ...], list[tuple[str, int, Runs]]] = {}

    def flows(self, slots: Mapping[str, Slot], results: Sequence[str]) -> Flows:
        """Each element of the results with what it is computed from; empty where that is not clear.

        Parameters
        ----------
        slots : mapping of str to Slot
            Of the arguments that have one.
        results : sequence of str
            Those of them that are written or added to.
        """
        if not any(slots[name].size > SHORT for name in results):
            return ()
        sizes = tuple(slot.size for slot in slots.values())
        if sizes not in self._found:
            self._found[sizes] = self._find(slots, results)
        return tuple(
            (slots[name].part(i), tuple(slots[source].part(first, size) for source, first, size in runs))
            for name, i, runs in self._found[sizes]
        )

    def _find(self, slots: Mapping[str, Slot], results: Sequence[str]) -> list[tuple[str, int, Runs]]:
        """Elements of the results, each with what it is computed from; empty where nothing is known."""
        declared = [name for name in results if name in self._bands]
        undeclared = [name for name in results if name not in self._bands]
        followed = self._follow(slots, results) if undeclared and not self._kernel.is_python else []
        if not declared:
            return followed
        sources = {name: slot.size for name, slot in slots.items() if name not in results}
        everything: Runs = tuple((source, 0, size) for source, size in sources.items())
        elements = [entry for entry in followed if entry[0] in undeclared]
        if not elements:
            elements = [(name, i, everything) for name in undeclared for i in range(slots[name].size)]
        for name in declared:
            size, band = slots[name].size, self._bands[name]
            elements += [(name, i, _near(sources, i, size, band)) for i in range(size)]
        return elements

    def _follow(self, slots: Mapping[str, Slot], results: Sequence[str]) -> list[tuple[str, int, Runs]]:
        """Elements of the results, each with what it is computed from; empty where that is not clear."""
        declarations = self._cls.declarations
        if any(array_of(a, declarations) == "h" or a.role == "ring" for a in self._arguments):
            return []

        from cosim_compiler.language.element_flows import element_flows
        from cosim_compiler.language.flow_values import UnclearError
        from cosim_compiler.language.program import Program  # most models have no vectors that are longer

        try:
            function = Program().function(
                self._kernel.function, types_of(self._arguments, self._cls.declarations)
            )
            names = [name for name, _ in function.parameters]
            argument_of = dict(zip(names, (a.name for a in self._arguments), strict=True))
            sizes = {
                name: slots[argument].size for name, argument in argument_of.items() if argument in slots
            }
            sources = [name for name in sizes if argument_of[name] not in results]
            written = element_flows(function, sizes, sources)
        except (UnclearError, ContractError):
            return []
        places = [(argument_of[name], i) for name in sources for i in range(sizes[name])]
        flows = {(argument_of[name], i): bits for (name, i), bits in written.items()}
        return [
            (name, i, _runs(flows.get((name, i), 0), places))
            for name in results
            for i in range(slots[name].size)
        ]


def _near(sources: Mapping[str, int], i: int, size: int, band: int) -> Runs:
    """The elements near one, of vectors of its length, and all of others."""
    first, last = max(i - band, 0), min(i + band + 1, size)
    return tuple((name, first, last - first) if n == size else (name, 0, n) for name, n in sources.items())


def _runs(bits: int, places: Sequence[tuple[str, int]]) -> Runs:
    """The elements whose bits are set."""
    runs: list[tuple[str, int, int]] = []
    while bits:
        lowest = bits & -bits
        name, i = places[lowest.bit_length() - 1]
        bits ^= lowest
        if runs and runs[-1][0] == name and sum(runs[-1][1:]) == i:
            runs[-1] = (name, runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((name, i, 1))
    return tuple(runs)
