"""What elements of vectors a kernel function computes from what elements of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cosim.component.argument import Argument
from cosim.component.argument_types import array_of, types_of
from cosim.component.component import Component
from cosim.component.kernel_function import KernelFunction
from cosim.system.schedule import Flows, Slot
from cosim_compiler.errors import ContractError
from cosim_compiler.language.element_flows import UnclearError, element_flows
from cosim_compiler.language.program import Program

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
        if not all(any(slots[name].size > SHORT for name in names) for names in (slots, results)):
            return ()
        sizes = tuple(slot.size for slot in slots.values())
        if sizes not in self._found:
            self._found[sizes] = self._follow(slots, results)
        return tuple(
            (slots[name].part(i), tuple(slots[source].part(first, size) for source, first, size in runs))
            for name, i, runs in self._found[sizes]
        )

    def _follow(self, slots: Mapping[str, Slot], results: Sequence[str]) -> list[tuple[str, int, Runs]]:
        """Elements of the results, each with what it is computed from; empty where that is not clear."""
        declarations = self._cls.declarations
        if any(array_of(a, declarations) == "h" or a.role == "ring" for a in self._arguments):
            return []
        try:
            function = Program().function(
                self._kernel.function, types_of(self._arguments, self._cls.declarations)
            )
            names = [name for name, _ in function.parameters]
            given = dict(zip(names, (a.name for a in self._arguments), strict=True))
            sizes = {name: slots[of].size for name, of in given.items() if of in slots}
            sources = [name for name in sizes if given[name] not in results]
            written = element_flows(function, sizes, sources)
        except (UnclearError, ContractError):
            return []
        places = [(given[name], i) for name in sources for i in range(sizes[name])]
        found = {(given[name], i): bits for (name, i), bits in written.items()}
        return [
            (name, i, _runs(found.get((name, i), 0), places))
            for name in results
            for i in range(slots[name].size)
        ]


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
