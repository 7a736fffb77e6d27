"""LLVM's optimization in a process of its own, since LLVM's options hold for all that a process compiles."""

from __future__ import annotations

import subprocess
import tempfile
from types import TracebackType
from typing import IO

import cosim
from cosim.kit import python_command, python_environment, start_process

UNROLLED = 500
"""Loops of known length, as over the bodies of a small tree, are written out up to so many instructions.

With a larger number fewer instructions run, but a processor waits for them: its cache holds some 32 kB.
"""
LEVEL = 3
"""The level of LLVM's optimization, from 0: lower ones compile faster and run slower, with equal numbers.

Only the sign of a NaN depends on it.
"""
STEP_LEVEL = 1
"""The level for what runs once a step: half the machine code, for half a percent of a step's time.

Implicit methods need `LEVEL`: their steps solve equations, which took up to 7 % longer (bdf, two states).
"""
LENGTH = 8
"""Bytes of each number ahead of a module (its length, its level, whether it has pairs) and of an answer."""
OPTIMIZING = """
import sys
import llvmlite.binding as llvm
processor, unrolled, length = sys.argv[1], sys.argv[2], int(sys.argv[3])
llvm.set_option("cosim", f"-unroll-threshold={unrolled}")
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
machine = llvm.Target.from_triple(llvm.get_default_triple()).create_target_machine(
    cpu=processor, opt=3, reloc="pic", codemodel="default"
)
requests, answers = sys.stdin.buffer, sys.stdout.buffer
while size := requests.read(length):
    level, pairs = (int.from_bytes(requests.read(length), "little") for _ in range(2))
    module = llvm.parse_bitcode(requests.read(int.from_bytes(size, "little")))
    tuning = llvm.create_pipeline_tuning_options(speed_level=level)
    tuning.slp_vectorization = pairs > 0 and level > 1
    tuning.loop_vectorization, tuning.loop_interleaving = level > 0, False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    optimized = module.as_bitcode()
    answers.write(len(optimized).to_bytes(length, "little") + optimized)
    answers.flush()
"""


class Optimizer:
    """Optimizes modules one after the other, until it is closed (``with``).

    Parameters
    ----------
    processor : str
        As LLVM calls it.

    Raises
    ------
    CosimError
        The process cannot be started.
    """

    def __init__(self, processor: str) -> None:
        numbers = (UNROLLED, LENGTH)
        command = python_command("-c", OPTIMIZING, processor, *map(str, numbers))
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process lives)
        try:
            self._process = start_process(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=python_environment(),
            )
        except OSError as error:
            self._errors.close()
            raise cosim.CosimError(f"Python cannot be started to optimize machine code: {error}") from error

    def optimized(self, bitcode: bytes, level: int = LEVEL, pairs: bool = True) -> bytes:
        """The optimized module.

        Parameters
        ----------
        bitcode : bytes
        level : int
        pairs : bool
            Whether LLVM may join operations on neighbouring numbers outside loops. Articulated inertias are
            faster with it, factorizations slower.

        Raises
        ------
        CosimError
            LLVM cannot optimize the module.
        """
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None and answers is not None
        try:
            numbers = len(bitcode), level, pairs
            requests.write(b"".join(n.to_bytes(LENGTH, "little") for n in numbers) + bitcode)
            requests.flush()
        except BrokenPipeError:
            pass  # the process has ended; its last message is read below
        size = int.from_bytes(answers.read(LENGTH), "little")
        optimized = answers.read(size)
        if not size or len(optimized) < size:
            self._process.wait()
            self._errors.seek(0)
            last_line = self._errors.read().decode(errors="replace").strip().splitlines()[-1:]
            raise cosim.CosimError(f"LLVM cannot optimize the lowered functions: {''.join(last_line)}")
        return optimized

    def close(self) -> None:
        """End the process."""
        self._process.kill()  # in the middle of a module, too, since its answer is not needed
        self._process.communicate()
        self._errors.close()

    def __enter__(self) -> Optimizer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
