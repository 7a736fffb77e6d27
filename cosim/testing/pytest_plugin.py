"""Loaded by pytest (entry point ``pytest11``): bare asserts of the contract kit explain themselves."""

from __future__ import annotations

import pkgutil
import sys
from pathlib import Path

import pytest

# pytest warns about modules that are loaded already; without its entry point it would not know of any.
pytest.register_assert_rewrite(
    *(
        module.name
        for module in pkgutil.iter_modules([str(Path(__file__).parent)], "cosim.testing.")
        if module.name not in sys.modules
    )
)
