"""The time before anything is computed: CPU times of commands, cold and warm.

    python benchmarks/building/starting.py [--repeats 3]

Run it with the Python of an environment in which a release's wheel and the engine mount's plugin are
installed. Cold is an empty ``COSIM_CACHE_DIR``; warm is the same command again. Times count the processes
that a command starts, too; the middle of the repeats is written as a table (markdown).
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(p for p in (ROOT / "examples").glob("*/*.toml") if p.stem == p.parent.name)
EXPORTED = ("engine_mount", "four_bar", "quarter_car")


def spent(words: list[str], folder: Path) -> float:
    """CPU time of a command and its children, s."""
    environment = {**os.environ, "COSIM_CACHE_DIR": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    before = os.times()
    subprocess.run([sys.executable, *words], env=environment, check=True, capture_output=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def row(name: str, words: list[str], folder: Path, repeats: int, is_cold: bool = True) -> None:
    """Print a line of the table."""
    cold, warm = [], []
    for _ in range(repeats):
        if is_cold:
            shutil.rmtree(folder, ignore_errors=True)
            cold.append(spent(words, folder))
        warm.append(spent(words, folder))
    first = f"{statistics.median(cold):.2f}" if cold else ""
    print(f"| {name} | {first} | {statistics.median(warm):.2f} |", flush=True)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    print("| command | cold | warm |\n|---|---:|---:|")
    with tempfile.TemporaryDirectory() as given:
        folder, out = Path(given) / "cache", Path(given)
        for code in ("import numpy", "import cosim", "import numpy, cosim; cosim.Model, cosim.simulate"):
            row(f"`{code}`", ["-c", code], folder, repeats, is_cold=False)
        for words in (["--help"], ["plugins"]):
            row(f"`cosim {words[0]}`", ["-m", "cosim", *words], folder, repeats)
        for path in EXAMPLES:
            words = ["-m", "cosim", "run", str(path), "-q", "-o", str(out / "out.csv")]
            row(f"`cosim run {path.name}`", words, folder, repeats)
        for name in EXPORTED:
            path = ROOT / "examples" / name / f"{name}.toml"
            words = ["-m", "cosim", "export", str(path), "--native", "-o", str(out / "out.fmu")]
            row(f"`cosim export {path.name} --native`", words, folder, 1)
            row("the same with `--fmi 3`", [*words, "--fmi", "3"], folder, 1, is_cold=False)


if __name__ == "__main__":
    main()
