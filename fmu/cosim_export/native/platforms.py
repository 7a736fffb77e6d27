"""Where a native FMU can run, and what its library is called there."""

from __future__ import annotations

import platform as machine
import sys
from dataclasses import dataclass

import cosim


@dataclass(frozen=True)
class Target:
    """One processor and operating system.

    Attributes
    ----------
    zig : str
        What zig's C compiler calls it; on Linux with the oldest C library that it runs with.
    folder3 : str
        Folder of its binaries in an FMU for FMI 3.0.
    """

    zig: str
    folder3: str


@dataclass(frozen=True)
class Platform:
    """What users name: one folder of binaries in FMI 2.0.

    Attributes
    ----------
    name : str
        Its folder in an FMU for FMI 2.0.
    suffix : str
        Of a shared library.
    targets : tuple of Target
        More than one where a library holds code for several processors.
    """

    name: str
    suffix: str
    targets: tuple[Target, ...]


PLATFORMS = {
    platform.name: platform
    for platform in (
        Platform("linux64", ".so", (Target("x86_64-linux-gnu.2.17", "x86_64-linux"),)),
        Platform("aarch64-linux", ".so", (Target("aarch64-linux-gnu.2.17", "aarch64-linux"),)),
        Platform("win64", ".dll", (Target("x86_64-windows-gnu", "x86_64-windows"),)),
        Platform(
            "darwin64",
            ".dylib",
            (Target("x86_64-macos", "x86_64-darwin"), Target("aarch64-macos", "aarch64-darwin")),
        ),
    )
}


def own_platform() -> str | None:
    """The name of this machine's platform, where there is one for it."""
    is_arm = machine.machine().lower() in ("arm64", "aarch64")
    if sys.platform.startswith("linux"):
        return "aarch64-linux" if is_arm else "linux64"
    if sys.platform == "win32":
        return None if is_arm else "win64"
    return "darwin64" if sys.platform == "darwin" else None


def chosen_platforms(names: list[str]) -> list[Platform]:
    """The platforms of these names, each once, or of ``all``; `ModelError` for all that do not exist."""
    if names == ["all"]:
        return list(PLATFORMS.values())
    wrong = [f"'{name}' is none" for name in names if name not in PLATFORMS] if names else ["none is named"]
    choices = f"there are {', '.join(PLATFORMS)}, or all of them: all"
    if wrong:
        raise cosim.ModelError([cosim.Problem("platforms", f"{text}; {choices}") for text in wrong])
    return [PLATFORMS[name] for name in dict.fromkeys(names)]
