"""All kernel functions of the product can be printed and compiled, and give the same bytes everywhere."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import corpus
import pytest

import cosim
from cosim_compiler.c_machine import COMPILERS
from cosim_compiler.road import ROADS

ROOT = Path(__file__).parents[2]
FEWEST_FUNCTIONS, FEWEST_COMPONENTS, FEWEST_LINES, FEWEST_METHODS = 300, 80, 20_000, 20
"""Lower bounds, so that a list that is empty by mistake fails."""


def lines_of(script: str, **variables: str) -> list[str]:
    """The lines that a script of this folder writes."""
    folders = [ROOT / "release", ROOT / "tests" / "language"]
    done = subprocess.run(
        [sys.executable, "-P", str(ROOT / "tests" / "language" / script)],
        env={**os.environ, **variables, "COSIM_PLAIN": "0", "PYTHONPATH": os.pathsep.join(map(str, folders))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_component_can_be_made_with_every_option() -> None:
    classes = set()
    for entry in cosim.registry().entries("component"):
        cls = cosim.registry().get("component", entry.id)
        for options in () if entry.id in corpus.ALONE else corpus.alternatives(entry.id, cls):
            classes.add(type(cls(**{**corpus.values_of(entry.id, cls), **options})))
    assert len(classes) > FEWEST_COMPONENTS


@pytest.mark.thorough
@pytest.mark.skipif(not any(map(shutil.which, COMPILERS)), reason="there is no C compiler here")
def test_every_component_and_method_computes_the_same_bytes_with_each_compiler() -> None:
    by_llvm, by_c, in_python = (lines_of("roads_run.py", COSIM_COMPILER=name) for name in ROADS)
    assert len(by_llvm) > FEWEST_LINES
    assert len({line for line in by_llvm if not line.startswith("model")}) > FEWEST_METHODS
    assert by_llvm == by_c
    assert by_llvm == in_python


@pytest.mark.thorough
def test_every_kernel_function_is_read_and_printed() -> None:
    report = json.loads(lines_of("all_kernels_run.py")[-1])  # lines before it name packages that are missing
    assert not report["faults"], "\n".join(report["faults"])
    assert report["functions"] > FEWEST_FUNCTIONS
