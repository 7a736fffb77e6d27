"""The profile of a run as text."""

from __future__ import annotations

from collections.abc import Iterator

from cosim_workbench.run_profile import RunProfile

MOST_ROWS = 25
"""The rows of a table, those with the longest times."""


def profile_lines(profile: RunProfile) -> list[str]:
    """The profile as lines of text."""
    seconds = profile.run / max(profile.evaluations, 1)
    return [
        f"build     {profile.build:.3f} s",
        f"compile   {profile.compile:.3f} s   loading or compiling functions, and the first step",
        f"run       {profile.run:.3f} s   {profile.evaluations} evaluations, "
        f"{1e6 * seconds:.3g} µs each in all",
        *_table("by stage", profile.stages),
        *_table("by component", profile.parts),
        "",
        "not compiled" if profile.in_python else "all of it is compiled",
        *(f"  {name}: {reason}" for name, reason in profile.in_python.items()),
    ]


def _table(title: str, times: dict[str, float]) -> Iterator[str]:
    """The times of one evaluation, s, each with its share."""
    total = sum(times.values())
    yield ""
    yield f"{title}, of one evaluation ({1e6 * total:.3g} µs)"
    shown = [(name, seconds) for name, seconds in times.items() if seconds > 0.0]
    for name, seconds in shown[:MOST_ROWS]:
        yield f"  {1e6 * seconds:9.3f} µs  {seconds / total:4.0%}  {name}"
