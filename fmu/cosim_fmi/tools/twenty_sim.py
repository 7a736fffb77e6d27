"""20-sim: its FMUs count their inner steps by adding.

Their ``fmi2DoStep`` is ``while (time < end) { …; time += step; }`` (in the sources inside such FMUs), so that
an end that rounds otherwise than the sum costs or adds a step (`InnerClock`).
"""

from __future__ import annotations


def adds_inner_steps(generation_tool: str) -> bool:
    """Whether an FMU of this tool counts so."""
    return generation_tool.startswith("20-sim")
