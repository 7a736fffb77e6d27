"""Ctrl-C while a function is compiled: it is answered, and the process goes on."""

import os
import signal
import subprocess
import sys
import threading

import compiling_interrupted
import pytest

from cosim_compiler.held_interrupts import interrupts_held
from cosim_compiler.native import is_plain
from cosim_compiler.road import LLVM, road


@pytest.mark.skipif(is_plain() or road() != LLVM or os.name == "nt", reason="LLVM compiles nothing here")
def test_between_llvm_and_llvmlite(tmp_path):
    done = subprocess.run(
        [sys.executable, compiling_interrupted.__file__],
        env={**os.environ, "COSIM_CACHE_DIR": str(tmp_path), "COSIM_PLAIN": "0"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\n2.0\n"), done.stderr


def test_it_is_raised_at_the_end():
    said = []
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        signal.raise_signal(signal.SIGINT)
        said.append("went on")
    assert said == ["went on"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_one_comes_through():
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("went on")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_is_answered_once(count):
    answered = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: answered.append(number))
    try:
        with interrupts_held():
            for _ in range(count):
                signal.raise_signal(signal.SIGTERM)
            assert len(answered) == count - 1
    finally:
        signal.signal(signal.SIGTERM, before)
    assert answered == [signal.SIGTERM] * count


def test_other_threads_compile_too():
    done = []

    def work():
        with interrupts_held():
            done.append("compiled")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["compiled"]
