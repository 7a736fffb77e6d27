"""Unknown ids are answered with the nearest ones, and with the plugin that might have had them."""

import pytest

import cosim
from cosim.errors import PluginError
from cosim.kit import PluginRecord, Registry
from cosim_compiler.nearest import nearest, nearest_names


@pytest.mark.parametrize(
    ("word", "id"),
    [
        ("rk4", "integrators.runge_kutta_4"),
        ("integrators.rk4", "integrators.runge_kutta_4"),
        ("dopri5", "integrators.dormand_prince"),
        ("merson", "integrators.runge_kutta_merson"),
        ("runge_kuta_4", "integrators.runge_kutta_4"),
        ("radau", "integrators.radau3"),
        ("euler", "integrators.explicit_euler"),
        ("verlet", "integrators.velocity_verlet"),
    ],
)
def test_an_integrator_is_found_by_a_word_of_its_id(word, id):
    with pytest.raises(cosim.LookUpError) as raised:
        cosim.registry().get("integrator", word)
    assert id in raised.value.near


def test_all_ids_with_a_word_are_found():
    ids = ["a.two_point_damper", "a.damper_of_joints", "b.delay"]
    assert nearest_names("damper", ids) == ["a.two_point_damper", "a.damper_of_joints"]
    assert nearest("zzz", ids) is None
    assert nearest("", ids) is None


def test_only_a_failed_plugin_that_may_have_the_id_is_explained():
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
