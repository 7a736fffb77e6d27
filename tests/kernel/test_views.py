"""Kernel functions with a view are those with argument names, written shorter."""

from __future__ import annotations

import math
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest
import view_parts as parts

import cosim
from cosim.component.history import ENTRIES, ENTRY_WIDTH, empty_ring
from cosim.kit import History, history_buffer, kernel_code, run_source
from cosim.testing import ComponentContract, MeasureContract
from cosim.testing.other_mode import results_in_mode

PAIRS = [(parts.Pendulum, parts.PendulumByNames), (parts.Echo, parts.EchoByNames)]


class TestPendulum(ComponentContract):
    make = staticmethod(parts.Pendulum)


class TestEcho(MeasureContract):
    make = staticmethod(lambda: parts.Echo())


@pytest.mark.parametrize(("with_view", "by_names"), PAIRS)
def test_a_view_asks_for_what_the_names_ask_for(with_view: type, by_names: type) -> None:
    assert with_view.arguments.keys() == by_names.arguments.keys()
    for name, arguments in by_names.arguments.items():
        assert set(with_view.arguments[name]) == set(arguments), name


class Runs:
    @classmethod
    def digests(cls) -> list[str]:
        """The rows and the last State of both, each as hexadecimal digits."""
        found = []
        for pair in ((parts.Pendulum, parts.Echo), (parts.PendulumByNames, parts.EchoByNames)):
            result = parts.swinging(*pair).simulate(until=3.0, accuracy=1e-6)
            names = ("pendulum.angle", "pendulum.energy", "echo", "pendulum.hits", "pendulum.ticks")
            values = np.concatenate([np.ravel(result[name]) for name in names])
            found.append(values.astype(float).tobytes().hex())
        return found


def test_the_same_bytes_compiled_and_in_plain_python() -> None:
    compiled, plain = (results_in_mode(Runs, "digests", plain) for plain in (False, True))
    assert compiled[0] == compiled[1] == plain[0] == plain[1]


def test_kinks_are_found_through_a_view() -> None:
    for body in ("s.torque = abs(s.angle) + max(s.rate, 0.0)", "x = s.angle\n        s.torque = abs(x)"):
        made = _class(f"    @cosim.kernel\n    def law(s):\n        {body}\n")
        assert made.kink_functions, body


def test_the_function_is_called_with_anything_that_has_the_attributes() -> None:
    s = SimpleNamespace(angle=0.5, rate=2.0)
    assert parts.Pendulum.low(s) == 0.5
    s = SimpleNamespace(hits=3, rate=2.0)
    parts.Pendulum.bounce.function(s)
    assert (s.hits_next, s.rate_next) == (4, -1.8)


def test_a_class_above_and_one_below_read_one_function_each_in_their_way() -> None:
    made = run_source(
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
    model.add(made["Above"](), "above")
    model.add(made["Below"](), "below")
    state = model.build().default_state().realize()
    assert (state["above.y"], state["below.y"], state["below.x_dot"]) == (2.0, 6.0, 6.0)


def test_a_plain_method_may_have_one() -> None:
    made = _class("    def derivatives(self, s):\n        s.torque = float(len(self.name)) * s.angle\n")
    model = cosim.Model("m")
    model.add(made(angle=0.5), "four")
    assert model.build().default_state().realize()["four.torque"] == 2.0


def test_other_arguments_may_stand_beside_it() -> None:
    made = _class("    @cosim.kernel\n    def law(s, torque, t):\n        torque[0] = s.angle + t + s.t\n")
    assert [a.name for a in made.arguments["law"]] == ["angle", "torque", "t"]


def test_names_are_free_again() -> None:
    """A local name, a helper and an attribute may be called the same."""
    made = _class(
        "    @cosim.kernel\n    def law(s):\n        torque = norm(s.norm)\n        s.torque = torque\n",
        "def norm(x):\n    return 2.0 * x\n",
        "    norm = cosim.parameter(default=1.5)\n",
    )
    model = cosim.Model("m")
    model.add(made(), "part")
    assert model.build().default_state().realize()["part.torque"] == 3.0


def test_the_compiler_shows_the_arguments() -> None:
    code = next(code for code in kernel_code(parts.Pendulum) if code.name == "low")
    assert "low(angle" in code.typed


# histories


def test_the_methods_of_a_history_are_its_functions() -> None:
    """On arrays, as Python calls them, and flat."""
    pairs = []
    for _ in range(2):
        pairs.append((np.zeros(ENTRY_WIDTH * ENTRIES), np.array(empty_ring(0))))
    history = History(*pairs[0])
    for t, side, value, slope in ((0.0, 0.0, 1.0, 2.0), (1.0, 0.0, 3.0, 2.0), (1.0, 1.0, 5.0, 2.0)):
        history.append(t, side, math.inf, value, slope)
        history_buffer.append_to_history(*pairs[1], t, side, math.inf, value, slope)
    assert history.count == history_buffer.entry_count(pairs[1][1]) == 3
    assert history.break_time == history_buffer.break_time(*pairs[1]) == 0.0
    history.enter_piece(1.5, 0.5)
    history_buffer.enter_piece(*pairs[1], 1.5, 0.5)
    assert history.break_time == history_buffer.break_time(*pairs[1]) == 1.0
    assert history.next_break_order == history_buffer.next_break_order(*pairs[1]) == 0.0
    history.insert(1, 0.5, 2.0, 2.0)
    assert [history.time(i) for i in range(4)] == [0.0, 0.5, 1.0, 1.0]
    assert (history.piece_begin, history.piece_end) == (0, 2)
    assert np.array_equal(history.numbers[:ENTRY_WIDTH], pairs[1][0][:ENTRY_WIDTH])


def test_parts_of_a_history_are_handed_on_one_by_one() -> None:
    made = _class(
        "    @cosim.kernel\n    def law(s):\n        s.torque = break_time(*s.past) + History(s.past, "
        "s.past_ring).break_time\n".replace("History(s.past, s.past_ring)", "s.past"),
        "from cosim.kit import break_time\n",
        '    past = cosim.history(of="angle", keep="gain")\n',
    )
    assert {a.name for a in made.arguments["law"]} == {"past", "past_ring", "torque"}


# mistakes


def _class(body: str, head: str = "", declared: str = "") -> type[cosim.Component]:
    text = (
        f"import cosim\n{head}class Part(cosim.Component):\n"
        '    """Law: torque."""\n'
        "    gain = cosim.parameter(default=2.0)\n    angle = cosim.position(start=0.3)\n"
        "    rate = cosim.speed()\n    torque = cosim.cache_slot()\n    force = cosim.cache_slot(shape=2)\n"
        "    hits = cosim.discrete(dtype=int)\n    @cosim.kernel\n    def move(s):\n"
        f"        s.angle_dot, s.rate_dot = s.rate, -s.angle\n{declared}{body}"
    )
    return run_source(text, {"__name__": "of_a_test"}, "view")["Part"]


MISTAKES = {
    "s.torque = s.gian * s.angle": "'s.gian' is neither declared nor offered by an attachment; nearest: 's.g"
    "ain'",
    "s.torque = angle": "'angle' is an attribute of the view here: write s.angle",
    "s.gain * s.angle": "nothing that it computes stays; results are attributes of s: write s.angle_dot = …",
    "return s.angle": "what a kernel function returns is lost; results are attributes of s: write",
    "s.gain = 2.0": "s.gain may only be read",
    "s.angle = 2.0": "s.angle is the present value, and is read only; variables change in handlers (cosim.on"
    ", cosim.every): write s.angle_next = … there",
    "s.force = 2.0": "`s.force = …` changes nothing outside; s.force has 2 elements: write s.force[0] = …",
    "s.shared = 2.0": "s.shared has 1 elements: write s.shared[0] += …",
    "s.torque = s.angle_dot": "s.angle_dot is a result but never written: write s.angle_dot = …; it cannot "
    "be read: compute it here, too, or read a cache_slot",
    "s.torque = 2.0 * s.angle_dot": "s.angle_dot is a result but never written: write s.angle_dot = …; it",
    "s.torque = s.gain[0]": "s.gain is a number here: write s.gain, not s.gain[0]",
    "s.torque = 2.0 * s.force": "s.force is a view of 2 numbers: compute with its elements, s.force[0]",
    "s.force[2] = 1.0": "s.force has 2 elements, [2] is outside",
    "s.force[0] = 1.0": "s.force[1] may not have been written here",
    "s.force[0:2] = s.force": "s.force[0:2] = … cannot be compiled; for i in range(…): s.force[i] = …",
    "s.torque = s.force.sum()": "s.force.sum cannot be compiled; write a loop",
    "if s.angle > 0.0: s.torque = 1.0": "s.torque may not have been written here, and would keep the value "
    "of an earlier evaluation: write s.torque = … before",
    "s.torque = s.torque + 1.0": "s.torque is read before it is written, and has the value of an earlier "
    "evaluation: write s.torque = … first",
    "x = s; s.torque = 1.0": "s stands for all that the function may ask for: write an attribute of it, s."
    "torque",
    "s.torque = s[0]": "s stands for all that the function may ask for",
    "s.torque = getattr(s, 'angle')": "s stands for all that the function may ask for",
    "helper(s)": "'s.torqe' is neither declared nor offered by an attachment; nearest: 's.torque'",
    "further(s)": "'further' is defined further down; move it above the class",
    "s.torque = s.past": "s.past is a history: call what it has: ring, count, entry(), ",
    "s.torque = s.past.brek_time": "s.past.brek_time: a history has no 'brek_time'; nearest: 'break_time'",
    "s.past.append(s.t, 0.0, 0.0, s.angle, s.rate)": "s.past may only be read",
    "s.torque = 1.0; del s.torque": "a kernel function cannot use del",
}


@pytest.mark.parametrize("body", MISTAKES)
def test_mistakes_are_told_in_the_authors_words(body: str) -> None:
    with pytest.raises(cosim.ContractError) as told:
        _class(
            f"    @cosim.kernel\n    def law(s):\n        {body}\ndef further(s):\n    s.torque = s.angle\n",
            "def helper(s):\n    s.torqe = s.angle\n",
            '    past = cosim.history(of="angle", keep="gain")\n'
            "    shared = cosim.cache_slot(shape=1, accumulates=True)\n",
        )
    assert MISTAKES[body] in str(told.value)
    assert "'s' is neither declared" not in str(told.value)


def test_a_place_is_that_of_the_author() -> None:
    with pytest.raises(cosim.ContractError, match=r":16: Part.law: 's.gian'"):
        _class("    @cosim.kernel\n    def law(s):\n\n        s.torque = s.gian\n")


def test_a_misspelt_argument_is_no_view() -> None:
    with pytest.raises(cosim.ContractError, match="'anlge'.*neither declared.*'angle'"):
        _class("    @cosim.witness\n    def low(anlge):\n        return anlge\n")
    with pytest.raises(cosim.ContractError, match="'anlge'.*neither declared.*'angle'"):
        _class(
            "    @cosim.witness\n    def low(anlge):\n        return twice(anlge)\n",
            "def twice(x):\n    return 2.0 * x\n",
        )


def test_a_declared_name_is_no_view() -> None:
    with pytest.raises(cosim.ContractError, match="'angle'.*declared"):
        _class("    @cosim.kernel\n    def law(angle):\n        angle.torque = 1.0\n")


def test_what_publishes_changes_nothing() -> None:
    with pytest.raises(cosim.ContractError, match="publish changes nothing.*s.hits_next"):
        _class('    @cosim.every(0.1, does="publish")\n    def show(s):\n        s.hits_next = 1\n')


def test_a_view_function_without_decorator_is_told() -> None:
    with pytest.raises(cosim.ContractError, match="nothing calls law.*@cosim.kernel"):
        _class("    def law(s):\n        s.torque = s.angle\n")


def test_an_exception_has_the_line_of_the_author() -> None:
    made = _class(
        "    @cosim.kernel\n    def law(s):\n        s.torque = s.angle\n"
        '        if s.angle > 0.0:\n            raise ValueError("too far")\n'
    )
    with pytest.raises(ValueError, match="too far") as failed:
        made.kernels["law"].call_by_name(angle=1.0, torque=np.zeros(1))
    assert failed.traceback[-1].lineno + 1 == 17
