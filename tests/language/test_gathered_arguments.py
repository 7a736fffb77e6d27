"""Functions that gather arguments in a tuple, such as functions that are called by address."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from language_tools import compiled

from cosim_compiler.calls import gathering
from cosim_compiler.code import BY_C, BY_LLVM, Coder
from cosim_compiler.errors import ContractError
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, WHOLE, View
from cosim_compiler.sources.kernel_rules import rule_faults

CODERS = pytest.mark.parametrize("coder", [BY_LLVM, BY_C], ids=["llvm", "c"])


class Pair(NamedTuple):
    factor: float
    values: Any


def count(x: Any, *more: Any) -> Any:
    return x + len(more)


def uses_gathered(x: Any, *more: Any) -> Any:
    pair = Pair(*more[:2])
    index, out = more[2:]
    out[0] = pair.factor + index
    return x + pair.factor * pair.values[index] + count(x) + 10.0 * count(x, *more)


ARGUMENTS = 1.0, 2.0, np.array([3.0, 5.0]), 1


@CODERS
def test_gathered_arguments_are_a_tuple(coder: Coder) -> None:
    compiled_out, plain_out = np.zeros(1), np.zeros(1)
    assert (
        compiled(uses_gathered, "ffFiF>f", coder)(*ARGUMENTS, compiled_out)
        == uses_gathered(*ARGUMENTS, plain_out)
        == 62.0
    )
    assert compiled_out[0] == plain_out[0] == 3.0


@CODERS
def test_the_tuple_of_gathered_arguments_may_be_empty(coder: Coder) -> None:
    assert compiled(count, "f>f", coder)(2.5) == count(2.5) == 2.5


def test_a_call_with_a_missing_argument_is_refused() -> None:
    with pytest.raises(ContractError, match="1 arguments.*0"):
        compiled(count, ">f", BY_LLVM)()


def test_kernel_functions_of_components_cannot_gather_arguments() -> None:
    assert "kernel function" in rule_faults(count, frozenset())[0]


def test_gathered_arguments_can_have_names_in_c() -> None:
    @gathering(("factor", "values", "index"))
    def named(*arguments: Any) -> Any:
        factor, values, index, offset = arguments
        return factor * values[index] + offset

    program = Program()
    function = program.function(named, (REAL, View(REAL), WHOLE, REAL))
    assert [name for name, _ in function.parameters] == [
        "arguments.factor",
        "arguments.values",
        "arguments.index",
        "arguments.3",
    ]
    assert compiled(named, "fFif>f", BY_C)(2.0, np.array([3.0, 5.0]), 1, 0.5) == 10.5
