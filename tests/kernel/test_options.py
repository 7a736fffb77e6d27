"""Unknown options, times with units, names that are meant: what was given, the nearest, what exists."""

import pytest

import cosim
import cosim_mechanics
from cosim.errors import OptionError
from cosim_compiler.nearest import nearest, nearest_names
from cosim_fmu import CoSimulation

RK4 = "integrators.runge_kutta_4"


def wave():
    model = cosim.Model("wave")
    model.add("measures.sinusoid", "wave", amplitude=1.0, frequency=2.0, phase=0.0)
    return model


UNKNOWN = {
    "Model.simulate": (lambda: wave().simulate(untl=1), "untl=1", "until", "output_interval"),
    "simulate": (lambda: cosim.simulate(wave().build(), 1, acuracy=1), "acuracy=1", "accuracy", "until"),
    "its integrator": (
        lambda: wave().simulate(1, integrator=RK4, fixed_stp=1e-3),
        "fixed_stp=0.001",
        "fixed_step",
        "until",
    ),
    "Simulator": (
        lambda: cosim.Simulator(wave().build(), maximal_step=1),
        "maximal_step=1",
        "maximum_step",
        "accuracy",
    ),
    "verify": (lambda: wave().verify(untl=1), "untl=1", "until", "signals"),
    "export": (lambda: wave().export_fmu("x.fmu", output=["*"]), "output=['*']", "outputs", "expose"),
    "native export": (
        lambda: wave().export_fmu("x.fmu", native=True, platform="win64"),
        "platform='win64'",
        "platforms",
        "fixed_step",
    ),
    "model": (lambda: cosim.Model("m", autor="me").build(), "autor='me'", "author", "dynamics"),
    "multibody": (
        lambda: cosim_mechanics.Multibody("m", gravty=3).build(),
        "gravty=3",
        "gravity",
        "description",
    ),
    "connect": (lambda: wave().connect("wave", "a.b", facto=2), "facto=2", "factor", "offset"),
    "parameter": (lambda: cosim.parameter(units="m"), "units='m'", "unit", "minimum"),
    "kernel": (lambda: cosim.kernel(stag=1), "stag=1", "stage", "when"),
    "every": (lambda: cosim.every(1.0, do="publish"), "do='publish'", "does", "offset"),
    "co-simulation": (lambda: CoSimulation({}, [], stp=1), "stp=1", "step", "threads"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_option_is_answered_with_what_exists(case):
    call, given, near, other = UNKNOWN[case]
    with pytest.raises(OptionError) as raised:
        call()
    said = str(raised.value)
    assert f"(given: {given})" in said
    assert f"Nearest: {near}" in said
    assert other in said.partition("There are: ")[2]
    assert isinstance(raised.value, TypeError) and isinstance(raised.value, cosim.CosimError)


def test_all_unknown_options_are_named():
    with pytest.raises(OptionError, match=r"'untl'.*'acuracy'"):
        wave().simulate(untl=1, acuracy=2)


def test_an_end_has_to_be_said():
    for call in (lambda: wave().simulate(), lambda: cosim.simulate(wave().build())):
        with pytest.raises(cosim.ModelError, match=r"until: is missing.*until=2\.0"):
            call()


def test_times_may_be_text():
    result = wave().simulate("20 ms", output_interval="10 ms", integrator=RK4, fixed_step="1 ms")
    assert result.time.tolist() == [0.0, 0.01, 0.02]
    assert result["wave"].tolist() == wave().simulate(0.02, output_interval=0.01)["wave"].tolist()


@pytest.mark.parametrize("wrong", ["2 m", "soon", None, True, [1.0]])
def test_what_is_no_time_is_refused(wrong):
    with pytest.raises(cosim.ModelError, match="until"):
        wave().simulate(wrong)


def test_faults_of_the_run_and_of_the_model_come_together():
    model = wave()
    model.add("measures.plus", "sum", first="wave", second="gone")
    with pytest.raises(cosim.ModelError) as raised:
        model.simulate("2 kg", integrator=RK4)
    said = str(raised.value).splitlines()
    assert len(said) == 3
    assert said[0].startswith("sum: no part 'gone'")
    assert "until: is '2 kg'" in said[1]
    assert "fixed_step is missing" in said[2]


def test_a_missing_step_is_said_before_anything_is_built(monkeypatch):
    model = wave()
    monkeypatch.setattr(cosim.Simulator, "reset_integrator", None)  # where compiling begins
    with pytest.raises(cosim.ModelError, match=r"fixed_step is missing.* Give fixed_step = 1e-3"):
        model.simulate(1.0, integrator=RK4)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("rk4", RK4),
        ("integrators.rk4", RK4),
        ("dopri5", "integrators.dormand_prince"),
        ("merson", "integrators.runge_kutta_merson"),
        ("runge_kuta_4", RK4),
        ("radau", "integrators.radau3"),
        ("euler", "integrators.explicit_euler"),
        ("verlet", "integrators.velocity_verlet"),
    ],
)
def test_ids_are_found_by_word(typed, meant):
    with pytest.raises(cosim.LookUpError) as raised:
        cosim.registry().get("integrator", typed)
    assert meant in raised.value.near


def test_several_with_one_word_are_all_named():
    known = ["a.two_point_damper", "a.damper_of_joints", "b.delay"]
    assert nearest_names("damper", known) == ["a.two_point_damper", "a.damper_of_joints"]
    assert nearest("zzz", known) is None
    assert nearest("", known) is None


def test_a_frequency_is_no_angular_speed():
    with pytest.raises(cosim.ModelError, match="'2 Hz'.*2 cycles a second.*'2 rev/s'"):
        wave().add("measures.sinusoid", "other", amplitude=1.0, frequency="2 Hz", phase=0.0)
    with pytest.raises(cosim.UnitError, match=r"10 rad/s are '1\.59154943 Hz'"):
        cosim.parse_quantity("10 rad/s", "Hz")


def test_a_message_names_only_the_plugin_that_matters():
    from cosim.errors import PluginError
    from cosim.kit import PluginRecord, Registry

    def failed(name):
        error = PluginError(name, f"{name}-dist", "1.0", "it raised something long")
        return PluginRecord(name, f"{name}-dist", "1.0", name, "failed", error=error, reason=error.reason)

    registry = Registry([failed("acme"), failed("other")])
    with pytest.raises(cosim.LookUpError) as raised:
        registry.get("component", "acme.damper")
    assert "raised something long" in str(raised.value) and "other" not in str(raised.value)
    with pytest.raises(cosim.LookUpError) as raised:
        registry.get("component", "third.damper")
    assert "load: acme" in str(raised.value)
    assert "something long" not in str(raised.value)
