"""The calls of a master algorithm with a fixed sequence, noted while it makes one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cosim
from cosim_master.algorithms.exchange_layout import ADVANCE, READ, SET

Call = tuple[int, str]
"""A call of `exchange_layout`, and the participant that it is made with."""


def noted_calls(algorithm: cosim.MasterAlgorithm, order: Sequence[str]) -> list[Call]:
    """The calls of one step.

    Parameters
    ----------
    algorithm : MasterAlgorithm
        With a `fixed_sequence`.
    order : sequence of str
        The participants in order.

    Raises
    ------
    ContractError
        It uses the exchange in a way that depends on values.
    """
    exchange: Any = _NotedExchange(order)
    algorithm.step(exchange, 0.0, 1.0)
    calls: list[Call] = exchange.calls
    return calls


class _NotedExchange:
    """An exchange that only notes the calls of a master algorithm."""

    loops = ()

    def __init__(self, order: Sequence[str]) -> None:
        self.order = order
        self.calls: list[Call] = []

    def set_inputs(self, name: str) -> None:
        self.calls.append((SET, name))

    def advance(self, name: str, time: float, size: float) -> None:
        self.calls.append((ADVANCE, name))

    def advance_all(self, time: float, size: float) -> None:
        for name in self.order:
            self.advance(name, time, size)

    def read_outputs(self, name: str, end: Any = None) -> None:
        if end is not None:
            raise _fixed("read_outputs(name, end)")
        self.calls.append((READ, name))

    def __getattr__(self, name: str) -> Any:
        raise _fixed(name)


def _fixed(member: str) -> cosim.ContractError:
    return cosim.ContractError(
        f"exchange.{member}: with fixed_sequence = True, step uses order, set_inputs(name), advance, "
        "advance_all and read_outputs(name) alone; set fixed_sequence = False for all others"
    )
