"""Advice of verdicts, followed, over couplings that are drawn at random.

    python benchmarks/masters/advice.py [--cases 320] [--first 3000]

Each thing that a verdict says (a shorter step, another algorithm or option, a tighter tolerance) is done by
itself, and the largest error of the run, over the range of its output, is compared with what it was.
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

ENOUGH = 0.012
"""Of the range: what a step that is advised for an error of 1 % may leave."""
TOLERANCES = ("tolerance", "absolute_tolerance")


class Followed(NamedTuple):
    """One thing that was advised in one case.

    Attributes
    ----------
    kind : str
    seed : int
    said : str
        What was done: "step", "tolerance", or the algorithm or option.
    before, after : float
        Largest true error of the run over the range of its output.
    bar_before, bar_after : float
        The same of what is said.
    """

    kind: str
    seed: int
    said: str
    before: float
    after: float
    bar_before: float
    bar_after: float


def changes(case: verdicts.Case, advice: str) -> dict[str, verdicts.Case]:
    """The case as a sentence advises, one change each."""
    found: dict[str, verdicts.Case] = {}
    if match := re.search(r"step of (\S+) s", advice):
        found["step"] = replace(case, step=_whole(case, float(match[1])))
    if match := re.search(r"tolerance by (\S+?)\.$", advice):
        tighter = {name: case.options[name] / float(match[1]) for name in TOLERANCES}
        found["tolerance"] = replace(case, options={**case.options, **tighter})
    options = {name: _value(value) for name, value in re.findall(r'options\.(\w+) = ([\w"]+)', advice)}
    if match := re.search(r'algorithm = "(\w+)"', advice):
        found[match[1]] = replace(case, algorithm=match[1], options=options)
    elif options:
        found[" ".join(options)] = replace(case, options={**case.options, **options})
    return found


def _whole(case: verdicts.Case, step: float) -> float:
    """A step that divides the run, not longer than this one."""
    return case.until / math.ceil(case.until / step - 1e-9)


def _value(text: str) -> Any:
    return text.strip('"') if text.startswith('"') else int(text)


def follow(which: str, seed: int) -> list[Followed]:
    """All that is advised in one case; nothing where it is fine, or does not come to its end."""
    case = verdicts.draw(which, seed)
    before = verdicts.check_case(case, seed)
    found = []
    for said, changed in changes(case, before[0].advice).items() if before else ():
        after = verdicts.check_case(changed, seed)
        true, bar = (_worst(after), _bar(after)) if after else (math.inf, math.inf)
        found.append(Followed(case.kind, seed, said, _worst(before), true, _bar(before), bar))
    return found


def _worst(found: list[verdicts.Judged]) -> float:
    return max(each.true / each.scale for each in _smooth(found))


def _bar(found: list[verdicts.Judged]) -> float:
    return max(each.bar / each.scale for each in _smooth(found))


def _smooth(found: list[verdicts.Judged]) -> list[verdicts.Judged]:
    return [each for each in found if not each.jumps] or found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=320)
    parser.add_argument("--first", type=int, default=3000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--each", action="store_true", help="print every case")
    arguments = parser.parse_args()
    numbers = range(arguments.first, arguments.first + arguments.cases // 2)
    with ProcessPoolExecutor(arguments.processes) as pool:
        found = [
            each
            for which in ("known", "drawn")
            for some in pool.map(partial(follow, which), numbers, chunksize=2)
            for each in some
        ]
    if arguments.each:
        for each in found:
            print(each)
    print("| advised | cases | error falls | and is at most 1 % | median of error after over before |")
    print("|---" * 5 + "|")
    for said in dict.fromkeys(each.said for each in found):
        mine = [each for each in found if each.said == said]
        falls = np.mean([each.after < each.before for each in mine])
        enough = np.mean([each.after <= ENOUGH for each in mine])
        ratio = np.median([each.after / each.before for each in mine])
        print(f"| {said} | {len(mine)} | {falls:.3g} | {enough:.3g} | {ratio:.2g} |")


if __name__ == "__main__":
    main()
