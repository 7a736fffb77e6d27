"""The examples in docstrings run, in the installed packages."""

import doctest
import importlib
import pkgutil

import pytest

PACKAGES = ["cosim", *(f"cosim_{p}" for p in "dynamics fmu integrators measures mechanics workbench".split())]


def modules() -> list[str]:
    found = list(PACKAGES)
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        found += [module.name for module in pkgutil.walk_packages(path, f"{package}.")]
    return [name for name in found if not name.endswith(".__main__")]


def test_examples_in_docstrings(subtests: pytest.Subtests) -> None:
    ran = 0
    for name in modules():
        with subtests.test(module=name):
            result = doctest.testmod(
                importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
            )
            assert result.failed == 0
            ran += result.attempted
    assert ran > 20
