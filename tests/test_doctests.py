"""The examples in docstrings run, in the installed packages."""

import doctest
import importlib
import pkgutil

OTHERS = ["compiler", "dynamics", "ensembles", "fmu", "integrators", "measures", "mechanics", "workbench"]
PACKAGES = ["cosim", *(f"cosim_{name}" for name in OTHERS)]


def modules() -> list[str]:
    found = list(PACKAGES)
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        found += [module.name for module in pkgutil.walk_packages(path, f"{package}.")]
    return [name for name in found if not name.endswith(".__main__")]


def test_examples_in_docstrings() -> None:
    """What a failed example printed is in the captured output."""
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    finder, runner, found = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=flags), 0
    failed = []
    for name in modules():
        for test in finder.find(importlib.import_module(name)):
            if test.examples:  # running one without any takes milliseconds
                found += 1
                if runner.run(test).failed:
                    failed.append(test.name)
    assert failed == []
    assert found > 20
