"""Connections from calculated parameters to parameters take effect once, in initialization."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import cosim
from cosim_fmu import CoSimulation

CALCULATED_PARAMETER = """<ScalarVariable name="total" valueReference="0" variability="fixed"
causality="calculatedParameter" initial="calculated"><Real unit="1"/></ScalarVariable></ModelVariables>"""


@pytest.fixture
def gain(make_fmu: Callable[..., Path]) -> Path:
    """An FMU with y = gain * u + bias, and y again as the calculated parameter ``total``."""
    path = make_fmu("gain")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = members["modelDescription.xml"].decode()
    members["modelDescription.xml"] = text.replace("</ModelVariables>", CALCULATED_PARAMETER).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_calculated_parameters_feed_parameters_along_a_chain(gain: Path) -> None:
    """The order of the connections does not matter: c needs b, which needs a."""
    links = [
        ("b.total", "c.bias"),
        {"from": "a.total", "to": "b.bias", "factor": 2.0, "offset": 1.0},
        ("a.y", "c.u"),
    ]
    starts = {"a.bias": 3.0, "b.u": 10.0, "c.gain": 100.0, "b.bias": -5.0}
    loop = CoSimulation(dict.fromkeys("cba", gain), links, "jacobi", 0.1, starts=starts)
    assert "b.total → c.bias: once, in initialization" in loop.explain()
    result = loop.simulate(0.2, record=["*.y"])
    # b.bias = 2 * 3 + 1 = 7; c.bias = 10 + 7 = 17
    assert result["b.y"].tolist() == [17.0] * 3 and result["c.y"].tolist() == [317.0] * 3


def test_calculated_parameters_feed_parameters_of_systems(gain: Path) -> None:
    class Source(cosim.Component):
        """y = level."""

        level = cosim.parameter(default=1.0)
        y = cosim.output()

        @cosim.kernel
        def output(level, y):
            y[0] = level

    model = cosim.Model("m")
    model.add(Source, "source")
    loop = CoSimulation({"s": model, "a": gain}, [("a.total", "s.source.level")], starts={"a.bias": 4.0})
    assert loop.simulate(0.002, record=["s.source.y"])["s.source.y"].tolist() == [4.0] * 3


def test_wrong_connections_to_parameters_are_named(gain: Path) -> None:
    links = [("a.y", "b.gain"), ("a.total", "b.bias"), ("a.bias", "b.bias"), ("a.totl", "a.gain")]
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": gain, "b": gain}, links, "jacobi", 0.1)
    message = str(caught.value)
    assert "a.y is an output" in message
    assert "b.bias has a source" in message and "Nearest: total" in message
