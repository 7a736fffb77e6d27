"""Every kernel function that the product asks for is read, and printed as LLVM's text, as C, and lowered.

Runs in plain Python, where asking compiles nothing; writes how many functions there were.
"""

from __future__ import annotations

import json
import types

from corpus import ask_for_all
from shipping import collected

from cosim.step.arrays import PARTS
from cosim_compiler.code import text_for_llvm, text_in_c
from cosim_compiler.language.program import Program
from cosim_compiler.printers.llvm_lowered import lowered_text
from cosim_compiler.printers.plain_text import shown

faults = []


def read(function: types.FunctionType, signature: str) -> None:
    program = Program()
    root = program.root(function, signature)
    assert text_for_llvm(program, [("cosim_entry", root, signature)])
    assert text_in_c(program, [("cosim_entry", root, signature)])
    assert all(map(shown, program.functions))


with collected() as wanted:
    ask_for_all()
around_parts = {part.__dict__["__by_address__"] for part in PARTS}
for (function, signature), forms in wanted.items():
    if function in around_parts:  # numba's way to hand over all arrays
        continue
    try:
        read(function, signature)
        if "text" in forms:
            assert lowered_text(function, signature, "cosim_lowered")
    except Exception as error:
        faults.append(f"{function.__qualname__} {signature}: {type(error).__name__}: {error}")
print(json.dumps({"functions": len(wanted), "faults": faults}))
