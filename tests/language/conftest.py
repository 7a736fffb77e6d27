"""The kernel language by itself: what is compiled here is compiled by its own compiler, whatever the road."""

import pytest

pytest.importorskip("llvmlite")
