"""Running the checks of a contract one by one."""

import inspect
import tempfile
from pathlib import Path

import pytest

import cosim
from cosim.testing import KitWarning

ELSEWHERE = ("test_compiled_is_plain_python", "test_runs_in_an_fmu")


def checks(case):
    """Names of all checks of a contract."""
    return [name for name in dir(case) if name.startswith("test_")]


def failing_checks(case, *, but=()):
    """Names of the checks that fail, all but some being run."""
    failing = []
    for name in checks(case):
        if name in but:
            continue
        try:
            run(getattr(case(), name))
        except pytest.skip.Exception:
            pass
        except (AssertionError, pytest.fail.Exception, cosim.CosimError, KitWarning):
            failing.append(name)
    return failing


def run(check):
    """Run a check, with a folder of its own if it asks for one."""
    if "tmp_path" not in inspect.signature(check).parameters:
        return check()
    with tempfile.TemporaryDirectory() as folder:
        return check(tmp_path=Path(folder))


def fails_exactly(case, check):
    """Whether this check and no other one fails; those that take long run for their own toy alone."""
    assert failing_checks(case, but=[name for name in ELSEWHERE if name != check]) == [check]
