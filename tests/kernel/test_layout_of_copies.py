"""The layout goes by what parts declare, not by the objects that say so: other processes have others."""

from __future__ import annotations

import copy
import pickle

import cosim


class Weighted(cosim.Component):
    """Two vectors, as long as they are given: an instance has declarations of its own."""

    first = cosim.parameter(shape="n")
    second = cosim.parameter(shape="n", default=1.0)
    x = cosim.auxiliary_state(shape="n", start=1.0)

    @cosim.kernel
    def derivatives(first, second, x, x_dot):
        for i in range(len(x)):
            x_dot[i] = first[i] - second[i] * x[i]


def model(is_copied: bool) -> cosim.Model:
    first = Weighted(first=[1.0, 2.0])
    second = copy.copy(first) if is_copied else Weighted(first=[1.0, 2.0])
    made = cosim.Model("two")
    made.add(first, "a")
    made.add(second, "b")
    return made


def test_states_of_a_copied_part_are_those_of_one_that_is_made() -> None:
    copied, made = model(True).build(), model(False).build()
    assert copied.digest == made.digest
    state = copied.default_state()
    state["b.second"] = [3.0, 4.0]
    assert made.state_from_bytes(state.to_bytes())["b.second"].tolist() == [3.0, 4.0]
    assert pickle.loads(pickle.dumps(copied)).digest == copied.digest
