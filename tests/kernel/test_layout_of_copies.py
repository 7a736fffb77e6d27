"""The layout depends on what parts declare, not on the identity of declarations: it is the same in copies."""

from __future__ import annotations

import copy
import pickle

import cosim


class Weighted(cosim.Component):
    """Vectors of any length, so that each instance has its own declarations."""

    first = cosim.parameter(shape="n")
    second = cosim.parameter(shape="n", default=1.0)
    x = cosim.auxiliary_state(shape="n", start=1.0)

    @cosim.kernel
    def derivatives(first, second, x, x_dot):
        for i in range(len(x)):
            x_dot[i] = first[i] - second[i] * x[i]


def build_system(is_copied: bool) -> cosim.System:
    """Two equal parts, of which the second one may be a copy of the first."""
    first = Weighted(first=[1.0, 2.0])
    second = copy.copy(first) if is_copied else Weighted(first=[1.0, 2.0])
    model = cosim.Model("two")
    model.add(first, "a")
    model.add(second, "b")
    return model.build()


def test_a_system_with_a_copied_part_has_the_layout_of_one_with_two_new_parts() -> None:
    with_copy, without_copy = build_system(True), build_system(False)
    assert with_copy.digest == without_copy.digest
    state = with_copy.default_state()
    state["b.second"] = [3.0, 4.0]
    assert without_copy.state_from_bytes(state.to_bytes())["b.second"].tolist() == [3.0, 4.0]
    assert pickle.loads(pickle.dumps(with_copy)).digest == with_copy.digest
