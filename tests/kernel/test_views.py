"""A kernel function with a view asks for the same and computes the same as one with argument names."""

from __future__ import annotations

import textwrap
from types import SimpleNamespace

import numpy as np
import pytest
import view_parts as parts
from view_source import class_with

import cosim
from cosim.kit import kernel_code, run_source
from cosim.testing import ComponentContract, MeasureContract
from cosim.testing.other_mode import results_in_mode

PAIRS = [(parts.Pendulum, parts.PendulumByNames), (parts.Echo, parts.EchoByNames)]


class TestPendulum(ComponentContract):
    make = staticmethod(parts.Pendulum)


class TestEcho(MeasureContract):
    make = staticmethod(lambda: parts.Echo())


@pytest.mark.parametrize(("with_view", "by_names"), PAIRS)
def test_a_view_asks_for_the_same_arguments_as_names(with_view: type, by_names: type) -> None:
    assert with_view.arguments.keys() == by_names.arguments.keys()
    for name, arguments in by_names.arguments.items():
        assert set(with_view.arguments[name]) == set(arguments), name


class Runs:
    """Runs for another process."""

    @classmethod
    def digests(cls) -> list[str]:
        """The recorded values of the parts with views and of those with names, as hexadecimal digits."""
        digests = []
        for pair in ((parts.Pendulum, parts.Echo), (parts.PendulumByNames, parts.EchoByNames)):
            result = parts.swinging(*pair).simulate(until=3.0, accuracy=1e-6)
            names = ("pendulum.angle", "pendulum.energy", "echo", "pendulum.hits", "pendulum.ticks")
            values = np.concatenate([np.ravel(result[name]) for name in names])
            digests.append(values.astype(float).tobytes().hex())
        return digests


def test_the_same_bytes_compiled_and_in_plain_python() -> None:
    compiled, plain = (results_in_mode(Runs, "digests", plain) for plain in (False, True))
    assert compiled[0] == compiled[1] == plain[0] == plain[1]


def test_kinks_of_a_view_are_found() -> None:
    for body in ("s.torque = abs(s.angle) + max(s.rate, 0.0)", "x = s.angle\n        s.torque = abs(x)"):
        part_class = class_with(f"    @cosim.kernel\n    def law(s):\n        {body}\n")
        assert part_class.kink_functions, body


def test_a_function_with_a_view_may_be_called_with_any_object() -> None:
    s = SimpleNamespace(angle=0.5, rate=2.0)
    assert parts.Pendulum.low(s) == 0.5
    s = SimpleNamespace(hits=3, rate=2.0)
    parts.Pendulum.bounce.function(s)
    assert (s.hits_next, s.rate_next) == (4, -1.8)


def test_a_subclass_may_declare_an_attribute_of_a_view_otherwise() -> None:
    classes = run_source(
        textwrap.dedent(
            '''
            import cosim
            class Above(cosim.Component):
                """Law: y = 2 x."""
                x = cosim.parameter(default=1.0)
                y = cosim.cache_slot()
                @cosim.kernel
                def law(s):
                    s.y = 2.0 * s.x
            class Below(Above):
                """Law: y = 2 x, of a state."""
                x = cosim.auxiliary_state(start=3.0)
                @cosim.kernel
                def rest(s):
                    s.x_dot = s.y
            '''
        )
    )
    model = cosim.Model("m")
    model.add(classes["Above"](), "above")
    model.add(classes["Below"](), "below")
    state = model.build().default_state().realize()
    assert (state["above.y"], state["below.y"], state["below.x_dot"]) == (2.0, 6.0, 6.0)


def test_a_method_in_plain_python_may_have_a_view() -> None:
    part_class = class_with(
        "    def derivatives(self, s):\n        s.torque = float(len(self.name)) * s.angle\n"
    )
    model = cosim.Model("m")
    model.add(part_class(angle=0.5), "four")
    assert model.build().default_state().realize()["four.torque"] == 2.0


def test_other_arguments_may_stand_beside_a_view() -> None:
    part_class = class_with(
        "    @cosim.kernel\n    def law(s, torque, t):\n        torque[0] = s.angle + t + s.t\n"
    )
    assert [a.name for a in part_class.arguments["law"]] == ["angle", "torque", "t"]


def test_a_local_name_a_helper_and_an_attribute_may_be_the_same() -> None:
    part_class = class_with(
        "    @cosim.kernel\n    def law(s):\n        torque = norm(s.norm)\n        s.torque = torque\n",
        "def norm(x):\n    return 2.0 * x\n",
        "    norm = cosim.parameter(default=1.5)\n",
    )
    model = cosim.Model("m")
    model.add(part_class(), "part")
    assert model.build().default_state().realize()["part.torque"] == 3.0


def test_shown_code_has_the_arguments_of_a_view() -> None:
    code = next(code for code in kernel_code(parts.Pendulum) if code.name == "low")
    assert "low(angle" in code.typed
