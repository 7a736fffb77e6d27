"""Tests of the kernel language need llvmlite: they compile with LLVM, whatever `COSIM_COMPILER` is."""

import pytest

pytest.importorskip("llvmlite")
