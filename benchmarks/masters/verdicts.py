"""Error bars of everything that is recorded, over couplings that are drawn at random.

    python benchmarks/masters/verdicts.py [--cases 480] [--first 1000] [--hidden] [--verify]

The couplings of `known_couplings` have known solutions; those of `drawn_systems` are compared with the same
parts in one model. A bar holds when the largest error of its output in the run is not above it. Smaller
errors than `SMALLEST_ERROR` are those of the participants' own integration: they count as that. With
``--hidden`` participants hide their states and run once, as many FMUs do.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import drawn_systems  # noqa: E402
import known_couplings  # noqa: E402
from hidden_states import hidden_loop  # noqa: E402

import cosim  # noqa: E402

SMALLEST_ERROR = 2e-8
"""The smallest error that counts, relative to the range of its output."""
FINE_ERROR = 0.01
"""The limit for the verdict "fine", relative to the range."""


class JudgedOutput(NamedTuple):
    """An output of a case.

    Attributes
    ----------
    kind, seed : str, int
        Of the case.
    name : str
    true, bar, scale : float
        Its largest error in the run, its error bar, and its range.
    verdict, advice, how : str
        Of the whole run.
    jumps : bool
        Whether it is discrete.
    """

    kind: str
    seed: int
    name: str
    true: float
    bar: float
    scale: float
    verdict: str
    advice: str
    how: str
    jumps: bool

    @property
    def ratio(self) -> float:
        """Bar over error."""
        floor = SMALLEST_ERROR * self.scale
        return max(self.bar, floor) / max(self.true, floor)


Case = known_couplings.KnownCoupling | drawn_systems.DrawnCoupling


def draw(which: str, seed: int) -> Case:
    """The case with this number from `known_couplings` ("known") or from `drawn_systems` ("drawn")."""
    return known_couplings.draw(seed) if which == "known" else drawn_systems.draw(seed)


def check_verdicts(which: str, seed: int, verify: bool = False, hidden: bool = False) -> list[JudgedOutput]:
    """The outputs of one case; nothing where the run does not come to its end."""
    return check_case(draw(which, seed), seed, verify, hidden)


def check_case(case: Case, seed: int, verify: bool = False, hidden: bool = False) -> list[JudgedOutput]:
    """The outputs of a case that may have been changed, judged as in `check_verdicts`."""
    loop = hidden_loop(case) if hidden else case.loop()
    try:
        result = loop.simulate(case.until)
        report = loop.verify(result, case.until) if verify else result.coupling
    except cosim.CosimError:
        return []
    truth = case.exact_outputs(result.time)
    judged = []
    for signal in report.signals:
        name = signal.name
        if name in truth and name in result and signal.scale > 0.0:
            difference = result[name] - np.transpose(truth[name])
            # the only row at a tick may show either side of it
            error = float(np.abs(np.atleast_2d(difference)).min(axis=0).max())
            judged.append(
                JudgedOutput(
                    kind=case.kind,
                    seed=seed,
                    name=name,
                    true=error,
                    bar=signal.error,
                    scale=signal.scale,
                    verdict=report.verdict,
                    advice=report.advice,
                    how=report.how,
                    jumps=name in report.jumps,
                )
            )
    return judged


def figures(outputs: list[JudgedOutput]) -> dict[str, float]:
    """The share of bars that hold, their ratio to errors, and how verdicts came about, by column."""
    ratios = np.array([output.ratio for output in outputs])
    return {
        "outputs": float(ratios.size),
        "hold": float(np.mean(ratios >= 1.0)),
        "median": float(np.median(ratios)),
        "90 of 100 below": float(np.quantile(ratios, 0.9)),
        "known": float(np.mean([output.verdict not in ("unknown", "unstable") for output in outputs])),
        "second run": float(np.mean(["against" in output.how for output in outputs])),
    }


def verdict_figures(outputs: list[JudgedOutput]) -> dict[str, float]:
    """The share of cases with the verdict "fine" that are fine, and of fine cases with that verdict."""
    worst: dict[tuple[str, int], float] = {}
    for output in outputs:
        if not output.jumps:
            case = output.kind, output.seed
            worst[case] = max(worst.get(case, 0.0), output.true / output.scale)
    verdicts = {(output.kind, output.seed): output.verdict for output in outputs}
    called_fine = [error <= FINE_ERROR for case, error in worst.items() if verdicts[case] == "fine"]
    with_small_error = [
        verdicts[case] == "fine" for case, error in worst.items() if error <= 0.2 * FINE_ERROR
    ]
    return {
        "fine is fine": float(np.mean(called_fine)),
        "an error below 0.2 % is called fine": float(np.mean(with_small_error)),
    }


def main() -> None:
    """Print how often bars hold, and how often the verdict "fine" is right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=480)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--verify", action="store_true", help="bars of a second run instead")
    parser.add_argument("--hidden", action="store_true", help="participants hide their states")
    parser.add_argument("--only", choices=("known", "drawn"))
    arguments = parser.parse_args()
    print("| kind | outputs | hold | median of bar over error | 90 of 100 below | known | second run |")
    print("|---" * 7 + "|")
    outputs: list[JudgedOutput] = []
    numbers = range(arguments.first, arguments.first + arguments.cases // 2)
    with ProcessPoolExecutor(arguments.processes) as pool:
        for which in ("known", "drawn"):
            if arguments.only in (None, which):
                check = partial(check_verdicts, which, verify=arguments.verify, hidden=arguments.hidden)
                for of_case in pool.map(check, numbers, chunksize=5):
                    outputs += of_case
    groups = {kind: [o for o in outputs if o.kind == kind] for kind in dict.fromkeys(o.kind for o in outputs)}
    groups["all"] = outputs
    groups["all that is known"] = [output for output in outputs if output.verdict != "unknown"]
    for name, group in groups.items():
        print(f"| {name} | " + " | ".join(f"{value:.3g}" for value in figures(group).values()) + " |")
    print({text: f"{value:.3g}" for text, value in verdict_figures(outputs).items()})


if __name__ == "__main__":
    main()
