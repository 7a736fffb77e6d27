"""The docstring of a component lists each declaration once, generated from the declaration itself."""

import inspect
import pydoc

import pytest

import cosim
from cosim.component.documented import documented


class Lift(cosim.Component):
    """A lift; its docstring describes two of its declarations.

    Law: height' = rate.

    Limits
    ------
    None.

    Parameters
    ----------
    rate, load : float
        How fast it goes.

    Examples
    --------
    >>> Lift(load=80.0).rate
    1.0
    """

    height = cosim.auxiliary_state(unit="m", start=2.0, description="of the floor")
    rate = cosim.parameter(unit="m/s", default=1.0, above=0.0, maximum=3.0)
    load = cosim.parameter(unit="kg", description="people and things")
    stops = cosim.parameter(shape="stops", unit="m", default=0.0)
    matrix = cosim.parameter(shape=(2, 3), unit=["N"] * 3 + ["m"] * 3, default=[[1, 2, 3], [4, 5, 6]])
    way = cosim.parameter(choices=["up", "down"], default="down")
    enabled = cosim.parameter(dtype=bool, default=1)
    kind = cosim.option("fast", choices=("fast", "slow"))
    door = cosim.input(unit="1", description="whether it is open")
    speed = cosim.output(unit="m/s", description="how fast it goes")

    @cosim.kernel
    def move(rate, height_dot, speed):
        height_dot[0] = rate
        speed[0] = rate


LINES = {  # by declaration: its line, and the line of its meaning
    "height": ("start value, m, default 2", "of the floor"),
    "rate": ("m/s, more than 0, at most 3, default 1", "How fast it goes."),
    "load": ("kg, has to be given", "people and things"),
    "stops": ("stops numbers, m, default 0", None),
    "matrix": ("2 x 3 numbers, N and m, default (1, 2, 3, 4, 5, 6)", None),
    "way": ("one of 'up', 'down', default 'down'", None),
    "enabled": ("True or False, default True", None),
    "kind": ("option, one of 'fast', 'slow', default 'fast'", None),
    "door": ("input, default 0", "whether it is open"),
    "speed": ("m/s", "how fast it goes"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_declaration_is_a_line_with_unit_bounds_and_default(name):
    values, meaning = LINES[name]
    lines = inspect.getdoc(Lift).splitlines()
    number = lines.index(f"{name} : {values}")
    assert meaning is None or lines[number + 1] == f"    {meaning}"


def test_each_section_stands_once_and_in_order():
    text = inspect.getdoc(Lift)
    titles = ["Law:", "Limits\n------", "Parameters\n------", "Returns\n-------", "Examples\n--------"]
    assert [text.count(title) for title in titles] == [1] * 5
    assert sorted(titles, key=text.index) == titles
    assert "rate : m/s, more than 0" in pydoc.plain(pydoc.render_doc(Lift))


def test_a_class_without_docstring_or_declarations_is_not_changed():
    plain = type("Plain", (cosim.Component,), {})
    assert plain.__doc__ is None
    empty = type("Empty", (cosim.Component,), {"__doc__": "  Nothing.\n"})
    assert documented(empty) == "  Nothing.\n"
    assert cosim.Component.__doc__.startswith("Base of every part of a model.")
    assert cosim.Model.__doc__.startswith("Parts, connections")


def test_a_docstring_that_is_set_later_lists_the_declarations_too():
    derived_class = type("Made", (Lift,), {"__doc__": "Made."})
    assert derived_class.__doc__.startswith("Made.\n\nParameters\n")
    derived_class.__doc__ = "Another."
    assert derived_class.__doc__.startswith("Another.\n\nParameters\n")
