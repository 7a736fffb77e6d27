"""The examples in the docstrings of the installed packages run."""

import doctest
import importlib
import pkgutil

TOPICS = ["compiler", "dynamics", "ensembles", "fmu", "integrators", "measures", "mechanics", "workbench"]
PACKAGES = ["cosim", *(f"cosim_{name}" for name in TOPICS)]


def modules() -> list[str]:
    """The names of all modules of the packages."""
    names = list(PACKAGES)
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        names += [module.name for module in pkgutil.walk_packages(path, f"{package}.")]
    return [name for name in names if not name.endswith(".__main__")]


def test_examples_in_docstrings() -> None:
    """The output of a failed example is in the captured output."""
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=flags)
    tests = [test for name in modules() for test in finder.find(importlib.import_module(name))]
    with_examples = [test for test in tests if test.examples]  # to run one without takes milliseconds
    assert len(with_examples) > 20
    assert [test.name for test in with_examples if runner.run(test).failed] == []
