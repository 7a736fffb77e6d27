"""Tests of what optional packages do.

Each worker imports all files of tests; of packages that take long to import, only who runs such a test.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def needs_packages(*names: str) -> pytest.MarkDecorator:
    """Skip where one of these packages is not installed; none is imported."""
    missing = [name for name in names if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")
