"""A process that gets SIGINT just after LLVM has made a module, and then compiles another function."""

import os
import signal

import llvmlite.binding as llvm

from cosim_compiler import native

parse_assembly = llvm.parse_assembly


def parse_and_interrupt(text):
    llvm.parse_assembly = parse_assembly
    module = parse_assembly(text)
    os.kill(os.getpid(), signal.SIGINT)
    return module


def half(x):
    return 0.5 * x


def quarter(x):
    return 0.5 * half(x)


if __name__ == "__main__":
    llvm.parse_assembly = parse_and_interrupt
    try:
        native.compile_function(half, "f>f")
    except KeyboardInterrupt:
        print("interrupted")
    print(native.compile_function(quarter, "f>f")(8.0))
