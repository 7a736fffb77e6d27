"""The kinks of a kernel function, as functions whose signs change there; they are made from its source.

At a kink the function goes on smoothly with another slope, as `abs` at zero. The two *sides* of a kink are
told apart by the sign of a number: `side_functions` makes the function that computes it.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import types
from dataclasses import dataclass

from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kept_reading import KeptReading, as_written
from cosim_compiler.sources.kernel_effects import effects_of
from cosim_compiler.sources.kernel_source import definition_of
from cosim_compiler.sources.kink_places import kink_calls, kink_places, loop_rounds, moving_names
from cosim_compiler.sources.kinks_in_reach import has_kinks, helper_lines, may_have_kinks
from cosim_compiler.sources.own_arrays import arrays_made
from cosim_compiler.sources.plain_bodies import plain_branches, with_helpers
from cosim_compiler.sources.side_functions import restored_side, side_function, stored_side


@dataclass(frozen=True)
class Sides:
    """The kinks of a function.

    Attributes
    ----------
    functions : tuple of function
        Each takes some of the arguments and returns a number whose sign changes at a kink.
    missed : tuple of int
        Lines with kinks for which no function could be made.
    lines : tuple of int
        Lines with `abs`, `max`, `min` or `interp`.
    """

    functions: tuple[types.FunctionType, ...] = ()
    missed: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()


@functools.cache
def sides_of(function: types.FunctionType, constant: frozenset[str]) -> Sides:
    """The kinks of a kernel function; the arguments in `constant` do not change during a run."""
    reading = KeptReading(*as_written(function), "kinks", repr(sorted(constant)))
    if reading.fact is not None:
        texts, missed, lines = reading.fact
        return Sides(tuple(restored_side(function, *text) for text in texts), tuple(missed), tuple(lines))
    sides = _read_sides(function, constant)
    texts = [stored_side(side, function) for side in sides.functions]
    if None not in texts:
        reading.remember([texts, sides.missed, sides.lines])
    return sides


def _read_sides(function: types.FunctionType, constant: frozenset[str]) -> Sides:
    """The kinks of a kernel function, read from its source."""
    if not may_have_kinks(function):
        return Sides()
    names = dict(environment(function))
    body = with_helpers(copy.deepcopy(definition_of(function)).body, names, has_kinks)
    body = plain_branches(body)
    effects = effects_of(function)
    arrays = frozenset(arrays_made(ast.Module(body, []), names))
    moving = moving_names(body, set(effects.arguments) - effects.writes - effects.adds - constant) | arrays
    calls = list(kink_calls(ast.Module(body, []), moving))
    failed = {id(call): call.lineno for call in calls}
    side_functions: list[types.FunctionType] = []
    for place in kink_places(body, moving):
        kinks = list(itertools.product(place.numbers, loop_rounds(place.loops)))
        functions = [side_function(function, body, names, arrays, place, *kink) for kink in kinks]
        usable = [side for side in functions if side is not None]
        if len(usable) == len(kinks):
            side_functions += usable
            failed.pop(id(place.node), None)
    in_helpers = helper_lines(names, body, moving)
    missed = {*failed.values(), *in_helpers}
    lines = {*(call.lineno for call in calls), *in_helpers}
    return Sides(tuple(side_functions), tuple(sorted(missed)), tuple(sorted(lines)))
