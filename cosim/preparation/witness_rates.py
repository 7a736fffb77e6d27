"""How fast witnesses change along the solution, from the tangent of the block that computes them."""

from __future__ import annotations

import functools
from typing import Any

from cosim.walker import BLOCK_SIGNATURE, TANGENT_SIGNATURE
from cosim_compiler.errors import ContractError, NoTangentError

CONSTANT = frozenset({2, 3, 5})
"""The arguments of a block that are constant along a solution: parameters, discrete variables, histories."""


@functools.lru_cache(maxsize=256)
def rates_of_block(function: Any) -> Any:
    """A kernel function that computes how fast the results of a block change; None: it has no second tangent.

    Its arguments are those of the block, but its cache is twice as long. The first half is the cache of the
    block, which begins with the derivatives of the states; the second half has the rates, in the same order.
    """
    from cosim_compiler.derivatives.tangents import tangent_function  # most systems need none

    def rates(t, y, p, d, k, h, c, ints, first, count):
        """Compute rates; time goes on at 1 s/s."""
        size = c.shape[0] // 2
        tangent(t, y, p, d, k, h, c[:size], ints, first, count, 1.0, c[: y.shape[0]], p, d, h, c[size:])

    try:
        tangent, signature = tangent_function(function, BLOCK_SIGNATURE, unread=CONSTANT)
        tangent_function(rates, BLOCK_SIGNATURE)  # type: ignore[arg-type]  # for derivatives of runs
    except (ContractError, NoTangentError):
        return None
    assert signature == TANGENT_SIGNATURE
    return rates
