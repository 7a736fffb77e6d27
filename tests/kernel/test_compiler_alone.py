"""The package of the compiler works without `cosim`: it checks and compiles functions and calls them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cosim.kit import is_plain

AUTHOR = """
import importlib, math, pkgutil, sys
sys.modules["cosim"] = None  # importing it fails

import cosim_compiler
for module in pkgutil.walk_packages(cosim_compiler.__path__, "cosim_compiler."):
    importlib.import_module(module.name)

from cosim_compiler.calls import indirect_call
from cosim_compiler.native import compile_function, function_address
from cosim_compiler.sources.kernel_rules import check_rules

def square(x):
    return x * x

def law(x, y):
    y[0] = math.sin(square(x))
    return 2.0 * y[0]

call_law = indirect_call("fF>f")

def call_by_address(address, x, y):
    return call_law(address, (x, y))

def returns_a_list(x):
    return [x]

import numpy as np
check_rules(law)
y = np.zeros(1)
result = compile_function(call_by_address, "ifF>f")(function_address(law, "fF>f"), 0.5, y)
assert result == 2.0 * math.sin(0.25) == 2.0 * y[0], (result, y)
try:
    check_rules(returns_a_list)
except TypeError as error:
    print(error)
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("plain", ["1", "0"])
def test_the_compiler_needs_no_cosim(tmp_path: Path, plain: str) -> None:
    if plain == "0" and is_plain():
        pytest.skip("nothing is compiled here")
    (tmp_path / "author.py").write_text(AUTHOR, "utf-8")
    done = subprocess.run(
        [sys.executable, "author.py"],
        cwd=tmp_path,
        env={**os.environ, "COSIM_PLAIN": plain},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "kernel function" in done.stdout
