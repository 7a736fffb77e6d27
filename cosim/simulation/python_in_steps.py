"""The parts of a run that are plain Python, and their cost: reported before the run."""

from __future__ import annotations

from collections.abc import Sequence

from cosim.contracts.integrator import Integrator
from cosim.last_result_cache import reuse_last
from cosim.system.alike_parts import parts_of_classes
from cosim.system.system import System
from cosim_compiler.native import is_plain

MOST_NAMES = 5
NOTHING_COMPILED = (
    "nothing is compiled (COSIM_PLAIN or COSIM_DEBUG, or no llvmlite): some hundred times as slow"
)
ELEMENTS = "methods of {} are plain Python: some 30 µs in each evaluation (kernel functions: 0.1 µs)"
HANDLERS = "handlers {} are plain Python: some 60 µs an event (kernel functions: 1 µs)"
METHOD = "the steps of {} are plain Python: some 100 µs an evaluation (compiled methods: 0.1 µs)"


def python_in_steps(system: System, method: type[Integrator]) -> list[str]:
    """A sentence for each kind of plain Python that steps call: where it is, and what a call takes.

    Parameters
    ----------
    system : System
    method : type
        Of the integrator.

    Returns
    -------
    list of str
        Empty where steps are machine code alone. Times are CPU times on a common processor.
    """
    key = method, is_plain()
    return list(reuse_last(system, "_python_in_steps", key, lambda: _python_in_steps(system, method)))


def _python_in_steps(system: System, method: type[Integrator]) -> list[str]:
    """`python_in_steps`, found anew."""
    if is_plain():
        return [NOTHING_COMPILED]
    elements = [
        owner for block in system.blocks if block.is_python for owner in block.owners or (block.label,)
    ]
    handlers = [
        f"{name}.{handler.name}"
        for name, part in parts_of_classes(system.parts, lambda cls: cls.handlers)
        for handler in part.handlers.values()
        if handler.function.is_python
    ]
    sentences = [
        text.format(_listed(names)) for text, names in ((ELEMENTS, elements), (HANDLERS, handlers)) if names
    ]
    return [*sentences, METHOD.format(method.__name__)] if method.python_calls() else sentences


def _listed(paths: Sequence[str]) -> str:
    names = list(dict.fromkeys(paths))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
