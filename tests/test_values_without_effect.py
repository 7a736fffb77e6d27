"""Values, tolerances, solver names and connections that could have no effect are errors."""

from __future__ import annotations

from typing import Any

import pytest

import cosim


class Gain(cosim.Component):
    """A gain with an offset, and states that decay."""

    gain = cosim.parameter(default=2.0)
    u = cosim.input(unit="1")
    x = cosim.auxiliary_state(shape=2, start=(1.0, 1.0))
    y = cosim.output(unit="1")

    @cosim.kernel
    def derivatives(u, x, gain, y, x_dot):
        y[0] = gain * u + 1.0
        x_dot[0] = -x[0]
        x_dot[1] = -x[1]


def model_of() -> cosim.Model:
    model = cosim.Model("m")
    model.add(Gain, "f")
    return model


def chain(**values: Any) -> cosim.Model:
    """Two gains in series; `values` are those of the second one, `g`."""
    model = model_of()
    model.add(Gain, "g", **values)
    model.connect("f.y", "g.u")
    return model


def test_a_value_of_a_connected_input_is_refused() -> None:
    assert chain().simulate(until=0.1)["g.y"][-1] == 3.0
    for model in (chain(u=4.0), chain(u=0.0)):
        with pytest.raises(
            cosim.ModelError, match=r"g\.u: its value, .*, has no effect.*connected to 'f\.y'"
        ):
            model.build()
    model = chain()
    model["g"].u = 4.0
    with pytest.raises(cosim.ModelError, match=r"g\.u: its value, 4\.0, has no effect"):
        model.build()


@pytest.mark.parametrize("name", ["relative_tolerance", "absolute_tolerance"])
def test_a_tolerance_beside_fixed_steps_of_an_explicit_method_is_refused(name: str) -> None:
    settings: dict[str, Any] = {"until": 0.5, "fixed_step": 0.1, name: 1e-3}
    with pytest.raises(cosim.ModelError, match=rf"{name} has no effect beside fixed_step"):
        model_of().simulate(integrator="runge_kutta_4", **settings)
    assert model_of().simulate(integrator="implicit_euler", **settings).time[-1] == 0.5


def test_an_unknown_solver_is_refused_even_if_none_is_needed() -> None:
    model = cosim.Model("m", dynamics="svall")
    model.add(Gain, "f")
    with pytest.raises(cosim.LookUpError, match=r"no dynamics solver 'svall'"):
        model.build()
    model.settings["dynamics"] = "sval"
    assert model.build().ny == 2


@pytest.mark.parametrize("wrong", ["f.y -> g.u", ("f.y",), 3, None])
def test_a_value_that_is_not_a_connection_is_refused(wrong: Any) -> None:
    model = chain()
    model.connections.append(wrong)
    with pytest.raises(cosim.ModelError, match=r"is not a connection: write model\.connect"):
        model.build()
    model.connections[-1:] = []
    assert model.build().ny == 4
