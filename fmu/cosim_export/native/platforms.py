"""The platforms for which native FMUs have libraries, as users, FMI, zig and LLVM name them."""

from __future__ import annotations

import platform as machine
import sys
from dataclasses import dataclass

import cosim
from cosim_lowering.machine_code import Target as MachineTarget


@dataclass(frozen=True)
class Target:
    """A processor and an operating system.

    Attributes
    ----------
    zig : str
        The target of zig's C compiler; on Linux with the oldest C library with which it runs.
    llvm : str
        The target of LLVM.
    folder3 : str
        Folder of its binaries in an FMU for FMI 3.0.
    """

    zig: str
    llvm: str
    folder3: str

    @property
    def machine(self) -> MachineTarget:
        """The target of compiled functions: every processor of the family."""
        return MachineTarget(self.llvm, "x86-64" if self.llvm.startswith("x86_64") else "generic")


@dataclass(frozen=True)
class Platform:
    """A platform as users name it: one folder of binaries in FMI 2.0.

    Attributes
    ----------
    name : str
        Its folder in an FMU for FMI 2.0.
    suffix : str
        The suffix of a shared library.
    targets : tuple of Target
        More than one if a library contains code for several processors.
    """

    name: str
    suffix: str
    targets: tuple[Target, ...]


PLATFORMS = {
    platform.name: platform
    for platform in (
        Platform(
            "linux64", ".so", (Target("x86_64-linux-gnu.2.17", "x86_64-unknown-linux-gnu", "x86_64-linux"),)
        ),
        Platform(
            "aarch64-linux",
            ".so",
            (Target("aarch64-linux-gnu.2.17", "aarch64-unknown-linux-gnu", "aarch64-linux"),),
        ),
        Platform(
            "win64", ".dll", (Target("x86_64-windows-gnu", "x86_64-unknown-windows-gnu", "x86_64-windows"),)
        ),
        Platform(
            "darwin64",
            ".dylib",
            (
                Target("x86_64-macos", "x86_64-apple-macosx13.0.0", "x86_64-darwin"),
                Target("aarch64-macos", "arm64-apple-macosx13.0.0", "aarch64-darwin"),
            ),
        ),
    )
}


def own_platform() -> str | None:
    """The name of this machine's platform, or None if it is not among `PLATFORMS`."""
    is_arm = machine.machine().lower() in ("arm64", "aarch64")
    if sys.platform.startswith("linux"):
        return "aarch64-linux" if is_arm else "linux64"
    if sys.platform == "win32":
        return None if is_arm else "win64"
    return "darwin64" if sys.platform == "darwin" else None


def chosen_platforms(names: list[str]) -> list[Platform]:
    """The named platforms, each once, or all of them for ``all``; `ModelError` names all unknown ones."""
    if names == ["all"]:
        return list(PLATFORMS.values())
    wrong = [f"'{name}' is none" for name in names if name not in PLATFORMS] if names else ["none is named"]
    choices = f"there are {', '.join(PLATFORMS)}, or all of them: all"
    if wrong:
        raise cosim.ModelError([cosim.Problem("platforms", f"{text}; {choices}") for text in wrong])
    return [PLATFORMS[name] for name in dict.fromkeys(names)]
