"""From lowered functions to one module, and to an object file of this machine."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from cosim.compiled import kernel_cache
from cosim.compiled.fingerprint import digest_of_module
from cosim.errors import ContractError, CosimError

INTRINSIC = "llvm."
MATHEMATICS = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor "
    "fma fmod frexp hypot ldexp lgamma log log10 log1p log2 memcpy memmove memset modf nearbyint pow "
    "remainder rint round sin sinh sqrt tan tanh tgamma trunc"
)
C_LIBRARY = frozenset(MATHEMATICS.split())
PASSES = 2
"""How often a module is optimized: the second time loops and branches whose lengths calls have made known."""
UNROLLED = 1200
"""Up to so many instructions a loop of known length is written out: that over the bodies of a small tree."""
OPTIMIZING = """
import sys
import llvmlite.binding as llvm
processor, unrolled, passes = sys.argv[1], sys.argv[2], int(sys.argv[3])
llvm.set_option("cosim", f"-unroll-threshold={unrolled}")
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
machine = llvm.Target.from_triple(llvm.get_default_triple()).create_target_machine(
    cpu=processor, opt=3, reloc="pic", codemodel="default"
)
module = llvm.parse_bitcode(sys.stdin.buffer.read())
tuning = llvm.create_pipeline_tuning_options(speed_level=3)
tuning.slp_vectorization = True
tuning.loop_vectorization = tuning.loop_interleaving = False
builder = llvm.create_pass_builder(machine, tuning)
for _ in range(passes):
    builder.getModulePassManager().run(module, builder)
sys.stdout.buffer.write(module.as_bitcode())
"""


class MachineCode:
    """Lowered functions linked into one module and optimized as a whole; the outcome is kept.

    No optimization changes a bit of a result: none reorders or joins operations on reals.

    Parameters
    ----------
    texts : iterable of str
        From `cosim.kit.lower` and `cosim.kit.entry_point`.
    visible : iterable of str
        Names of the functions that other object files of the same library call.
    exported : iterable of str
        Names of those that the library offers.
    allowed : iterable of str
        Names, beside those of the C library, that other object files define.

    Raises
    ------
    ContractError
        Something is left open that is not in the C library's mathematics.
    """

    def __init__(
        self,
        texts: Iterable[str],
        visible: Iterable[str],
        exported: Iterable[str] = (),
        allowed: Iterable[str] = (),
    ) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        made_of = [list(texts), sorted(visible), sorted(exported), sorted(allowed)]
        programs = [
            llvm.llvm_version_info,
            llvm.get_default_triple(),
            digest_of_module(sys.modules[__name__]),
        ]
        digest = hashlib.sha256(json.dumps([made_of, programs]).encode()).hexdigest()
        kept = kernel_cache.kept(digest)
        if kept is None:
            self._link(*made_of)
            self._optimize()
            kept = str(self._module).encode()
            kernel_cache.keep(digest, kept)
        # of the text in any case: the same bytes follow
        self._module: Any = llvm.parse_assembly(kept.decode())

    def _link(self, texts: list[str], visible: list[str], exported: list[str], allowed: list[str]) -> None:
        import llvmlite.binding as llvm

        modules = [llvm.parse_assembly(text) for text in texts]
        self._module = modules[0]
        for module in modules[1:]:
            self._module.link_in(module)
        self._module.verify()
        within, without = set(visible), set(exported)
        for function in self._module.functions:
            if function.is_declaration or function.name in without:
                continue
            if function.name in within:
                function.visibility = llvm.Visibility.hidden
            else:
                function.linkage = llvm.Linkage.internal
        for variable in self._module.global_variables:
            if not variable.is_declaration:
                variable.linkage = llvm.Linkage.internal
        missing = sorted(self.externals - C_LIBRARY - set(allowed))
        if missing:
            raise ContractError(f"compiled code needs what no C library has: {', '.join(missing)}")

    def _optimize(self) -> None:
        """In a process of its own: LLVM's options hold for all that a process compiles, and stay."""
        import llvmlite.binding as llvm

        machine = _machine()
        self._module.triple, self._module.data_layout = llvm.get_default_triple(), str(machine.target_data)
        command = [sys.executable, "-P", "-c", OPTIMIZING, _processor(), str(UNROLLED), str(PASSES)]
        places = os.pathsep.join(place for place in sys.path if place)
        try:
            done = subprocess.run(
                command,
                input=self._module.as_bitcode(),
                capture_output=True,
                env={**os.environ, "PYTHONPATH": places},
                check=False,
            )
        except OSError as error:
            raise CosimError(f"Python cannot be started to optimize machine code: {error}") from error
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise CosimError(f"LLVM cannot optimize the lowered functions: {''.join(said)}")
        self._module = llvm.parse_bitcode(done.stdout)

    @property
    def externals(self) -> set[str]:
        """Names that it does not define itself."""
        found = [*self._module.functions, *self._module.global_variables]
        return {v.name for v in found if v.is_declaration and not v.name.startswith(INTRINSIC)}

    def __str__(self) -> str:
        """LLVM's text, without a target."""
        return re.sub(r"^(target|source_filename|; ModuleID).*\n", "", str(self._module), flags=re.MULTILINE)

    def object_file(self) -> bytes:
        """An object file for this machine's operating system and for every processor of its family."""
        import llvmlite.binding as llvm

        module = llvm.parse_assembly(str(self))
        machine = _machine()
        module.triple, module.data_layout = llvm.get_default_triple(), str(machine.target_data)
        return bytes(machine.emit_object(module))


def _machine() -> Any:
    """For this machine's operating system and for every processor of its family."""
    import llvmlite.binding as llvm

    return llvm.Target.from_triple(llvm.get_default_triple()).create_target_machine(
        cpu=_processor(), opt=3, reloc="pic", codemodel="default"
    )


def _processor() -> str:
    """The plainest of this machine's family."""
    import llvmlite.binding as llvm

    return "x86-64" if llvm.get_default_triple().startswith("x86_64") else "generic"
