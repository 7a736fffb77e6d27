"""Running the checks of a contract one by one."""

import pytest

import cosim

OTHER_MODE = "test_compiled_is_plain_python"


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
            getattr(case(), name)()
        except pytest.skip.Exception:
            pass
        except (AssertionError, pytest.fail.Exception, cosim.CosimError):
            failing.append(name)
    return failing


def fails_exactly(case, check):
    """Whether this check and no other one fails; the one in another process runs for its own toy alone."""
    assert failing_checks(case, but=() if check == OTHER_MODE else (OTHER_MODE,)) == [check]
