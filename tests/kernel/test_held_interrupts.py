"""Ctrl-C while a function is compiled is raised after that, and the process can compile again."""

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
def test_an_interrupt_between_llvm_and_llvmlite_leaves_the_compiler_usable(tmp_path):
    done = subprocess.run(
        [sys.executable, compiling_interrupted.__file__],
        env={**os.environ, "COSIM_CACHE_DIR": str(tmp_path), "COSIM_PLAIN": "0"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\n2.0\n"), done.stderr


def test_an_interrupt_is_raised_at_the_end_of_the_block():
    steps = []
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        signal.raise_signal(signal.SIGINT)
        steps.append("went on")
    assert steps == ["went on"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_is_raised_at_once():
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("went on")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_signal_is_handled_once(count):
    handled = []
    previous_handler = signal.signal(signal.SIGTERM, lambda number, frame: handled.append(number))
    try:
        with interrupts_held():
            for _ in range(count):
                signal.raise_signal(signal.SIGTERM)
            assert len(handled) == count - 1
    finally:
        signal.signal(signal.SIGTERM, previous_handler)
    assert handled == [signal.SIGTERM] * count


def test_another_thread_may_compile_though_it_gets_no_signals():
    done = []

    def work():
        with interrupts_held():
            done.append("compiled")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["compiled"]
