"""Mistakes in classes of components, each answered in one line that says what to write."""

from __future__ import annotations

import pytest

import cosim
from cosim.kit import run_source

IN_DECLARATIONS = {
    "a dataclass": (
        "@dataclass\nclass A(cosim.Component):\n    '''A.'''\n    k: float = cosim.parameter(default=1.0)\n",
        "A: @dataclass would replace the constructor: remove it.",
    ),
    "no parentheses": (
        "class A(cosim.Component):\n    '''A.'''\n    k = cosim.parameter\n",
        "A: k = cosim.parameter declares nothing: write cosim.parameter(…)",
    ),
    "a default in first place": (
        "class A(cosim.Component):\n    '''A.'''\n    k = cosim.parameter(1.0)\n",
        "unit is 1.0, needs text, 'N/m', or a list of texts; a default is given by name: default=1.0",
    ),
    "value": (
        "class A(cosim.Component):\n    '''A.'''\n    k = cosim.parameter(value=1.0)\n",
        "parameter(): no option 'value' (given: value=1.0). Nearest: default.",
    ),
    "min": (
        "class A(cosim.Component):\n    '''A.'''\n    k = cosim.parameter(min=1.0)\n",
        "parameter(): no option 'min' (given: min=1.0). Nearest: minimum.",
    ),
    "a witness by its name": (
        "class A(cosim.Component):\n    '''A.'''\n    z = cosim.auxiliary_state()\n"
        "    @cosim.on('floor', does='unrestricted')\n    def hit(z, z_next): z_next[0] = 1.0\n",
        "not 'floor': write the name without quotes, cosim.on(floor, …)",
    ),
    "no kind of handler": (
        "class A(cosim.Component):\n    '''A.'''\n"
        "    @cosim.every(0.1)\n    def hit(z, z_next): z_next[0] = 1.0\n",
        "every(): does is missing: write every(period, does=…, …)",
    ),
    "dx": (
        "class A(cosim.Component):\n    '''A.'''\n    x = cosim.auxiliary_state()\n"
        "    @cosim.kernel\n    def derivatives(x, dx): dx[0] = -x\n",
        "'dx' is neither declared nor offered by an attachment; nearest: 'x_dot'.",
    ),
    "a frequency": (
        "class A(cosim.Component):\n    '''A.'''\n    n = cosim.discrete()\n"
        "    @cosim.every('100 Hz', does='discrete')\n    def hit(n, n_next): n_next[0] = n + 1.0\n",
        "Hz (1/s) cannot be converted to s: not the same quantity. Write '1/100 s'.",
    ),
    "no frequency": (
        "class A(cosim.Component):\n    '''A.'''\n    n = cosim.discrete()\n"
        "    @cosim.every('0 Hz', does='discrete')\n    def hit(n, n_next): n_next[0] = n + 1.0\n",
        "Hz (1/s) cannot be converted to s: not the same quantity.",
    ),
    "a history kept for a number": (
        "class A(cosim.Measure):\n    '''A.'''\n    source = cosim.source()\n"
        "    past = cosim.history(of='source', keep=0.1)\n",
        "cosim.history: keep is 0.1, needs the name of a parameter of the class, as text",
    ),
    "a name that every component has": (
        "class A(cosim.Component):\n    '''A.'''\n    state = cosim.output()\n",
        "A: the name 'state' is taken; choose another; every component has name, side, state, t, values",
    ),
    "recursion": (
        "def half(n):\n    return n if n < 1.0 else half(n / 2.0)\n"
        "class A(cosim.Component):\n    '''A.'''\n    x = cosim.auxiliary_state()\n"
        "    @cosim.kernel\n    def derivatives(x, x_dot): x_dot[0] = half(x)\n",
        "half → half: a kernel function cannot call itself: write a loop",
    ),
}


@pytest.mark.parametrize("mistake", IN_DECLARATIONS)
def test_a_class_that_cannot_be_made(mistake: str) -> None:
    source, answer = IN_DECLARATIONS[mistake]
    with pytest.raises(cosim.CosimError) as raised:
        run_source(f"from dataclasses import dataclass\nimport cosim\n{source}")
    assert answer in str(raised.value) and len(str(raised.value).splitlines()) == 1


IN_BODIES = {
    "bounds the wrong way round": (
        "    k = cosim.parameter(unit='N/m', minimum=2, maximum=1)\n",
        ":4: minimum 2 is above maximum 1",
    ),
    "a default with another unit": (
        "    k = cosim.parameter(unit='N/m', default='5 mm')\n",
        ":4: default: '5 mm': mm (m) cannot be converted to N/m",
    ),
    "a publish that writes": (
        "    n = cosim.discrete(dtype=int)\n"
        "    @cosim.every(0.1, does='publish')\n"
        "    def tick(n, n_next):\n"
        "        n_next[0] = n + 1\n",
        ':5: Wrong.tick: a publish changes nothing, and n_next is written: declare it with does="discrete"',
    ),
    "a method that raises": (
        "    x = cosim.auxiliary_state()\n    def derivatives(self, x, x_dot):\n        x_dot[0] = {}['a']\n",
        "wrong: derivatives: KeyError: 'a' (<source",
    ),
    "no super().__init__": (
        "    x = cosim.auxiliary_state()\n"
        "    def __init__(self, **values):\n"
        "        pass\n"
        "    def derivatives(self, x, x_dot):\n"
        "        x_dot[0] = 1.0\n",
        "wrong: Wrong.__init__ has to begin with super().__init__(**values)",
    ),
}


def run_wrong_class(body: str) -> None:
    """Make a class with this body, and run a part of it for a moment."""
    names = run_source(f"import cosim\nclass Wrong(cosim.Component):\n    'Wrong.'\n{body}")
    model = cosim.Model("m")
    model.add(names["Wrong"], "wrong")
    model.simulate(until=0.1)


@pytest.mark.parametrize("mistake", IN_BODIES)
def test_a_class_that_cannot_be_made_or_run(mistake: str) -> None:
    body, answer = IN_BODIES[mistake]
    with pytest.raises(cosim.CosimError) as raised:
        run_wrong_class(body)
    assert answer in str(raised.value) and len(str(raised.value).splitlines()) == 1


def test_an_error_of_a_method_has_its_line() -> None:
    body, _ = IN_BODIES["a method that raises"]
    with pytest.raises(cosim.SimulationError, match=r"\(<source \d+>:6\)$"):
        run_wrong_class(body)
