"""The effect of the advice in verdicts, over couplings that are drawn at random.

    python benchmarks/masters/advice.py [--cases 320] [--first 3000]

A verdict advises one or more changes: a shorter step, another algorithm or option, a tighter tolerance. Each
change is made alone, and the largest error of the run, over the range of its output, is compared with what it
was without.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import verdicts  # noqa: E402

ERROR_OF_ADVISED_STEP = 0.012
"""The largest error, relative to the range, after a step was advised that should leave 1 %."""
TOLERANCES = ("tolerance", "absolute_tolerance")


class FollowedAdvice(NamedTuple):
    """A piece of advice in one case.

    Attributes
    ----------
    kind : str
    seed : int
    advised : str
        The change: "step", "tolerance", or the name of the algorithm or option.
    before, after : float
        The largest true error of the run, over the range of its output.
    bar_before, bar_after : float
        The largest error bar, likewise.
    """

    kind: str
    seed: int
    advised: str
    before: float
    after: float
    bar_before: float
    bar_after: float


def changes(case: verdicts.Case, advice: str) -> dict[str, verdicts.Case]:
    """By change that a sentence advises: the case with that change alone."""
    changed: dict[str, verdicts.Case] = {}
    if match := re.search(r"step of (\S+) s", advice):
        changed["step"] = replace(case, step=_whole(case, float(match[1])))
    if match := re.search(r"tolerance by (\S+?)\.$", advice):
        tighter = {name: case.options[name] / float(match[1]) for name in TOLERANCES}
        changed["tolerance"] = replace(case, options={**case.options, **tighter})
    options = {name: _value(value) for name, value in re.findall(r'options\.(\w+) = ([\w"]+)', advice)}
    if match := re.search(r'algorithm = "(\w+)"', advice):
        changed[match[1]] = replace(case, algorithm=match[1], options=options)
    elif options:
        changed[" ".join(options)] = replace(case, options={**case.options, **options})
    return changed


def _whole(case: verdicts.Case, step: float) -> float:
    """The longest step up to this one that divides the length of the run."""
    return case.until / math.ceil(case.until / step - 1e-9)


def _value(text: str) -> Any:
    return text.strip('"') if text.startswith('"') else int(text)


def follow(which: str, seed: int) -> list[FollowedAdvice]:
    """All advice in one case; none if its verdict is fine or its run fails."""
    case = verdicts.draw(which, seed)
    before = verdicts.check_case(case, seed)
    if not before:
        return []
    followed = []
    for advised, changed in changes(case, before[0].advice).items():
        after = verdicts.check_case(changed, seed)
        error, bar = (_largest_error(after), _largest_bar(after)) if after else (math.inf, math.inf)
        followed.append(
            FollowedAdvice(case.kind, seed, advised, _largest_error(before), error, _largest_bar(before), bar)
        )
    return followed


def _largest_error(outputs: list[verdicts.JudgedOutput]) -> float:
    """Over the range of the output."""
    return max(output.true / output.scale for output in _smooth(outputs))


def _largest_bar(outputs: list[verdicts.JudgedOutput]) -> float:
    """Over the range of the output."""
    return max(output.bar / output.scale for output in _smooth(outputs))


def _smooth(outputs: list[verdicts.JudgedOutput]) -> list[verdicts.JudgedOutput]:
    """The outputs that do not jump; all outputs if all jump."""
    return [output for output in outputs if not output.jumps] or outputs


def main() -> None:
    """Print how much following each piece of advice reduces the error."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=320)
    parser.add_argument("--first", type=int, default=3000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--each", action="store_true", help="print every case")
    arguments = parser.parse_args()
    numbers = range(arguments.first, arguments.first + arguments.cases // 2)
    with ProcessPoolExecutor(arguments.processes) as pool:
        followed = [
            advice
            for which in ("known", "drawn")
            for of_case in pool.map(partial(follow, which), numbers, chunksize=2)
            for advice in of_case
        ]
    if arguments.each:
        for advice in followed:
            print(advice)
    print("| advised | cases | error falls | and is at most 1 % | median of error after over before |")
    print("|---" * 5 + "|")
    for advised in dict.fromkeys(advice.advised for advice in followed):
        cases = [advice for advice in followed if advice.advised == advised]
        falls = np.mean([case.after < case.before for case in cases])
        is_enough = np.mean([case.after <= ERROR_OF_ADVISED_STEP for case in cases])
        ratio = np.median([case.after / case.before for case in cases])
        print(f"| {advised} | {len(cases)} | {falls:.3g} | {is_enough:.3g} | {ratio:.2g} |")


if __name__ == "__main__":
    main()
