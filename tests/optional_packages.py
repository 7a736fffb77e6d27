"""A mark for tests that need optional packages.

Every worker imports all test files; so these must not import packages that take long to import.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def needs_packages(*names: str) -> pytest.MarkDecorator:
    """Skip a test if one of these packages is not installed; does not import them."""
    missing = [name for name in names if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")
