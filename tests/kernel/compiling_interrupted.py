"""A process that is interrupted where LLVM has just taken a module; says what it can compile afterwards."""

import os
import signal

import llvmlite.binding.linker as linker

from cosim_compiler import native

link = linker.ffi.lib.LLVMPY_LinkModules


def link_and_interrupt(*modules):
    linker.ffi.lib._fntab["LLVMPY_LinkModules"] = link
    linked = link(*modules)
    os.kill(os.getpid(), signal.SIGINT)
    return linked


def half(x):
    return 0.5 * x


def quarter(x):
    return 0.5 * half(x)


if __name__ == "__main__":
    linker.ffi.lib._fntab["LLVMPY_LinkModules"] = link_and_interrupt
    try:
        native.compile_function(half, "f>f")
    except KeyboardInterrupt:
        print("interrupted")
    print(native.compile_function(quarter, "f>f")(8.0))
