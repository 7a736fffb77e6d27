"""The system of which the ring of systems is made, as ``node.c``: x' = u - x."""

from __future__ import annotations

import cosim


class Node(cosim.Component):
    """x' = u - x."""

    u = cosim.input()
    x = cosim.auxiliary_state(start=1.0)
    y = cosim.output()

    @cosim.kernel
    def derivatives(u, x, x_dot):
        x_dot[0] = u - x

    @cosim.kernel
    def report(x, y):
        y[0] = x


def node() -> cosim.Model:
    """A model with one of them."""
    model = cosim.Model("node")
    model.add(Node, "node")
    return model
