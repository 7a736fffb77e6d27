"""All explicit integrators keep the contract, those of this package and two that an author could write."""

import inspect

import author_method
import author_step
import pytest

import cosim
from cosim.testing import IntegratorContract

IDS = [
    "explicit_euler",
    "semi_implicit_euler",
    "heun",
    "runge_kutta_3",
    "runge_kutta_4",
    "bogacki_shampine",
    "runge_kutta_merson",
    "dormand_prince",
    "tsitouras",
    "dormand_prince_853",
    "velocity_verlet",
    "yoshida_4",
]


@pytest.fixture(params=IDS)
def method(request):
    """Set the integrator of the test class."""
    request.cls.make = cosim.registry().get("integrator", f"integrators.{request.param}")


@pytest.mark.usefixtures("method")
class TestExplicit(IntegratorContract):
    make = None


class TestAuthorsMethod(IntegratorContract):
    make = author_method.ThreeEighths


class TestAuthorsStep(IntegratorContract):
    make = author_step.Midpoint


def test_an_authors_method_is_one_short_file():
    assert len(inspect.getsource(author_method).splitlines()) < 60


@pytest.mark.parametrize("name", IDS)
def test_each_method_names_its_publication(name):
    cls = cosim.registry().get("integrator", f"integrators.{name}")
    assert cls.bibtex.strip().startswith("@")
    assert cls.bibtex.count("{") == cls.bibtex.count("}")
    assert "year = {" in cls.bibtex


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["semi_implicit_euler", "velocity_verlet", "yoshida_4"])
def test_energy_over_a_hundred_thousand_periods(name):
    class LongRun(IntegratorContract):
        make = cosim.registry().get("integrator", f"integrators.{name}")
        periods = 100_000

    LongRun().test_symplectic_methods_keep_the_energy()
