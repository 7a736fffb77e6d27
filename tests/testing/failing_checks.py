"""Runs the checks of a contract one by one, and names those that fail."""

import inspect
import tempfile
from pathlib import Path

import pytest

import cosim
from cosim.testing import KitWarning

SLOW_CHECKS = ("test_compiled_is_plain_python", "test_runs_in_an_fmu")
"""Checks that start other processes or build FMUs."""


def checks(case):
    """Names of all checks of a contract."""
    return [name for name in dir(case) if name.startswith("test_")]


def failing_checks(case, *, but=()):
    """Names of the checks that fail; those named by `but` are not run."""
    return [name for name in checks(case) if name not in but and fails(case, name)]


def fails(case, name):
    """Whether a check fails; one that is skipped does not."""
    try:
        run(getattr(case(), name))
    except pytest.skip.Exception:
        return False
    except (AssertionError, pytest.fail.Exception, cosim.CosimError, KitWarning):
        return True
    return False


def run(check):
    """Run a check, with a folder of its own if it asks for one."""
    if "tmp_path" not in inspect.signature(check).parameters:
        return check()
    with tempfile.TemporaryDirectory() as folder:
        return check(tmp_path=Path(folder))


def fails_exactly(case, check):
    """This check fails and no other one; slow checks run only for their own toy."""
    assert failing_checks(case, but=[name for name in SLOW_CHECKS if name != check]) == [check]
