"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent

# A machine that others use as well draws examples slowly: no fault of the tests.
settings.register_profile(
    "unhurried", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays: no search for garbage goes through it, then or during the tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def helper_modules_in_subprocesses() -> Iterator[None]:
    """A Python that a test starts finds the helper modules of the tests, as the tests themselves do."""
    folders = [HERE, *(p for p in sorted(HERE.iterdir()) if p.is_dir() and p.name != "data")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)), prepend=os.pathsep)
        yield


@pytest.fixture(scope="session", autouse=True)
def exports_can_be_repeated() -> Iterator[None]:
    """FMUs that tests compare to the byte are made at one date."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        yield


@pytest.fixture(scope="session", autouse=True)
def interrupts_arrive() -> None:
    """Tests of interrupts work as well where the run is in the background, which ignores them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
