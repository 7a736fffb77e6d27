"""What takes long is checked for a few force elements in the normal run, and for all in `tox -e thorough`."""

import pytest

LONG = {"test_compiled_is_plain_python", "test_runs_in_an_fmu"}
ALWAYS = {"TestLinearBushing", "TestSphereContact", "TestPlainSpring"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        here = item.nodeid.rpartition("/")[2].startswith("test_force_contracts.py")
        if here and item.name in LONG and item.cls is not None and item.cls.__name__ not in ALWAYS:
            item.add_marker(pytest.mark.thorough)
