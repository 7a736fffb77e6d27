"""FMUs of this project: which of them may run a second time unnoticed."""

from __future__ import annotations

from cosim_fmi.fmu_archive import FmuArchive

TOOL = "cosim-framework "
"""The beginning of the name of this tool; FMUs that hold Python name another tool as well."""


def is_self_contained(generation_tool: str, archive: FmuArchive) -> bool:
    """Whether all that an FMU runs is compiled from a model: without Python, files, or FMUs in its resources.

    Such code has no effect outside the FMU, so that another instance may run in the same process.
    """
    is_native = generation_tool.startswith(TOOL) and " with " not in generation_tool
    return is_native and not archive.has_resources
