"""Unknown options are answered with the nearest one and all that exist; times may be text with a unit."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

import cosim
import cosim_mechanics
from cosim.errors import OptionError
from cosim_fmu import CoSimulation

RK4 = "integrators.runge_kutta_4"


def wave():
    model = cosim.Model("wave")
    model.add("measures.sinusoid", "wave", amplitude=1.0, frequency=2.0, phase=0.0)
    return model


class UnknownOption(NamedTuple):
    """A call with an option that it does not have, and the message about that."""

    call: Callable[[], object]
    option: str
    nearest: str
    existing: str
    """Another option that the message lists."""


UNKNOWN = {
    "Model.simulate": UnknownOption(
        lambda: wave().simulate(untl=1), "untl=1", nearest="until", existing="output_interval"
    ),
    "simulate": UnknownOption(
        lambda: cosim.simulate(wave().build(), 1, acuracy=1),
        "acuracy=1",
        nearest="accuracy",
        existing="until",
    ),
    "its integrator": UnknownOption(
        lambda: wave().simulate(1, integrator=RK4, fixed_stp=1e-3),
        "fixed_stp=0.001",
        nearest="fixed_step",
        existing="until",
    ),
    "Simulator": UnknownOption(
        lambda: cosim.Simulator(wave().build(), maximal_step=1),
        "maximal_step=1",
        nearest="maximum_step",
        existing="accuracy",
    ),
    "verify": UnknownOption(lambda: wave().verify(untl=1), "untl=1", nearest="until", existing="signals"),
    "export": UnknownOption(
        lambda: wave().export_fmu("x.fmu", output=["*"]),
        "output=['*']",
        nearest="outputs",
        existing="expose",
    ),
    "native export": UnknownOption(
        lambda: wave().export_fmu("x.fmu", native=True, platform="win64"),
        "platform='win64'",
        nearest="platforms",
        existing="fixed_step",
    ),
    "model": UnknownOption(
        lambda: cosim.Model("m", autor="me").build(), "autor='me'", nearest="author", existing="dynamics"
    ),
    "multibody": UnknownOption(
        lambda: cosim_mechanics.Multibody("m", gravty=3).build(),
        "gravty=3",
        nearest="gravity",
        existing="description",
    ),
    "connect": UnknownOption(
        lambda: wave().connect("wave", "a.b", facto=2), "facto=2", nearest="factor", existing="offset"
    ),
    "parameter": UnknownOption(
        lambda: cosim.parameter(units="m"), "units='m'", nearest="unit", existing="minimum"
    ),
    "kernel": UnknownOption(lambda: cosim.kernel(stag=1), "stag=1", nearest="stage", existing="when"),
    "every": UnknownOption(
        lambda: cosim.every(1.0, do="publish"), "do='publish'", nearest="does", existing="offset"
    ),
    "co-simulation": UnknownOption(
        lambda: CoSimulation({}, [], stp=1), "stp=1", nearest="step", existing="threads"
    ),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_option_is_answered_with_the_nearest_one_and_all_that_exist(case):
    unknown = UNKNOWN[case]
    with pytest.raises(OptionError) as raised:
        unknown.call()
    message = str(raised.value)
    assert f"(given: {unknown.option})" in message
    assert f"Nearest: {unknown.nearest}" in message
    assert unknown.existing in message.partition("There are: ")[2]
    assert isinstance(raised.value, TypeError) and isinstance(raised.value, cosim.CosimError)


def test_all_unknown_options_are_named():
    with pytest.raises(OptionError, match=r"'untl'.*'acuracy'"):
        wave().simulate(untl=1, acuracy=2)


def test_a_run_needs_an_end():
    for call in (lambda: wave().simulate(), lambda: cosim.simulate(wave().build())):
        with pytest.raises(cosim.ModelError, match=r"until: is missing.*until=2\.0"):
            call()


def test_times_may_be_text():
    result = wave().simulate("20 ms", output_interval="10 ms", integrator=RK4, fixed_step="1 ms")
    assert result.time.tolist() == [0.0, 0.01, 0.02]
    assert result["wave"].tolist() == wave().simulate(0.02, output_interval=0.01)["wave"].tolist()


@pytest.mark.parametrize("wrong", ["2 m", "soon", None, True, [1.0]])
def test_an_end_that_is_no_time_is_refused(wrong):
    with pytest.raises(cosim.ModelError, match="until"):
        wave().simulate(wrong)


def test_faults_of_the_run_and_of_the_model_come_together():
    model = wave()
    model.add("measures.plus", "sum", first="wave", second="gone")
    with pytest.raises(cosim.ModelError) as raised:
        model.simulate("2 kg", integrator=RK4)
    lines = str(raised.value).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("sum: no part 'gone'")
    assert "until: is '2 kg'" in lines[1]
    assert "fixed_step is missing" in lines[2]


def test_a_missing_fixed_step_is_an_error_before_anything_is_compiled(monkeypatch):
    model = wave()
    monkeypatch.setattr(cosim.Simulator, "reset_integrator", None)  # where compiling begins
    with pytest.raises(cosim.ModelError, match=r"fixed_step is missing.* Give fixed_step = 1e-3"):
        model.simulate(1.0, integrator=RK4)


def test_a_frequency_is_no_angular_speed():
    with pytest.raises(cosim.ModelError, match="'2 Hz'.*2 cycles a second.*'2 rev/s'"):
        wave().add("measures.sinusoid", "other", amplitude=1.0, frequency="2 Hz", phase=0.0)
    with pytest.raises(cosim.UnitError, match=r"10 rad/s are '1\.59154943 Hz'"):
        cosim.parse_quantity("10 rad/s", "Hz")
