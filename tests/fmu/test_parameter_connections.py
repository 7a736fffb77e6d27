"""Parameters that get their values from calculated parameters of other FMUs, in initialization."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import cosim
from cosim_fmu import CoSimulation

TOTAL = """<ScalarVariable name="total" valueReference="0" causality="calculatedParameter" variability="fixed"
initial="calculated"><Real unit="1"/></ScalarVariable></ModelVariables>"""


@pytest.fixture
def gain(make_fmu: Callable[..., Path]) -> Path:
    """y = gain * u + bias, which is also a calculated parameter."""
    path = make_fmu("gain")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = members["modelDescription.xml"].decode()
    members["modelDescription.xml"] = text.replace("</ModelVariables>", TOTAL).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_calculated_parameters_feed_parameters_along_a_chain(gain: Path) -> None:
    """Given in the wrong order: c waits for b, which waits for a."""
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


def test_parameters_of_systems_get_them_too(gain: Path) -> None:
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


def test_what_cannot_feed_a_parameter_is_said(gain: Path) -> None:
    links = [("a.y", "b.gain"), ("a.total", "b.bias"), ("a.bias", "b.bias"), ("a.totl", "a.gain")]
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": gain, "b": gain}, links, "jacobi", 0.1)
    text = str(caught.value)
    assert "a.y is an output" in text
    assert "b.bias has a source" in text and "Nearest: total" in text
