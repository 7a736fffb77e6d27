"""Lets workers report the call of each test, and setup and teardown only if they failed or took long.

This saves three of the six messages of pytest-xdist for each test. Most of ten thousand tests take a
millisecond, as three messages do.
"""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol

LONG = 0.1
"""The duration from which a phase is reported, s, so that the time of a file is right."""


def is_reported(report: pytest.TestReport) -> bool:
    """Whether a worker reports a phase of a test."""
    return report.when == "call" or not report.passed or report.duration >= LONG


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test as pytest does, and report the phases that matter when all are over."""
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if is_reported(report):
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
