"""Measures the figures that README and documentation state, and writes when that was: docs/claims.md.

    python benchmarks/claims.py [--only ID …] [--list] [--page]

`claims.toml` has the figures: the text that states one, its pages, the command that measures it. A command
that several figures share runs once; what it prints is kept in `benchmarks/measured/`. Whether a page still
says what was measured is for a reader: rewrite the figure in the page and in `claims.toml`. Run it on an idle
machine; libraries to compare with are installed as `peers.py` says.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CLAIMS, MEASURED, PAGE = (
    ROOT / "benchmarks/claims.toml",
    ROOT / "benchmarks/measured",
    ROOT / "docs/claims.md",
)
NONE = "none"
TIMEOUT = 3600.0  # s
HEAD = """# Claims

Each measured figure of the README and of these pages, the command that measures it again, and the last
measure. `python benchmarks/claims.py --only ID` runs a command and keeps what it prints; a test finds figures
without a row.

"""


@dataclass(frozen=True)
class Claim:
    """A figure, its place in the documentation, and the program that measures it.

    Attributes
    ----------
    id : str
    figure : str
        The words of the pages.
    pages : list of str
        Paths in the repository.
    command : str
        For Python, in the root of the repository.
    measured, commit, machine : str
        Of the last measure.
    """

    id: str
    figure: str
    pages: list[str]
    command: str
    measured: str = ""
    commit: str = ""
    machine: str = ""


def read_claims() -> list[Claim]:
    """The claims in order."""
    tables = tomllib.loads(CLAIMS.read_text("utf-8"))
    return [Claim(id, **table) for id, table in tables.items() if id != NONE]


def read_exempt() -> Mapping[str, list[str]]:
    """Texts that look like a measured figure but are none, by page."""
    exempt: Mapping[str, list[str]] = tomllib.loads(CLAIMS.read_text("utf-8"))[NONE]
    return exempt


def claims_page(claims: list[Claim]) -> str:
    """The text of docs/claims.md."""
    lines = ["| id | figure | in | measured by | last | commit | machine |", "|---|---|---|---|---|---|---|"]
    for claim in claims:
        pages = ", ".join(
            f"[{Path(page).stem}]({os.path.relpath(ROOT / page, PAGE.parent)})" for page in claim.pages
        )
        figure = claim.figure.replace("|", "·")
        row = [claim.id, figure, pages, f"`{claim.command}`", claim.measured, claim.commit, claim.machine]
        lines.append(f"| {' | '.join(row)} |")
    return HEAD + "\n".join(lines) + "\n"


def _machine() -> str:
    """Processor, cores and what else ran."""
    names = [
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if "model name" in line
    ]
    load = os.getloadavg()[0]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, load {load:.0f} before"


def _commit() -> str:
    """The short hash of the commit in the work tree."""
    words = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _measure(command: str, claims: list[Claim]) -> dict[str, str] | None:
    """Run a command; when, where and at what commit, or nothing where it failed."""
    machine = _machine()
    print(f"python {command}  ({', '.join(claim.id for claim in claims)})", flush=True)
    words = [sys.executable, *shlex.split(command)]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    print(ran.stdout, flush=True)
    if ran.returncode:
        print(f"failed with status {ran.returncode}:\n{ran.stderr}", file=sys.stderr)
        return None
    MEASURED.mkdir(exist_ok=True)
    for claim in claims:
        print(f"{claim.id}: the pages say {claim.figure!r}")
        (MEASURED / f"{claim.id}.txt").write_text(ran.stdout, "utf-8")
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"measured": today, "commit": _commit(), "machine": machine}


def _write_down(measures: Mapping[str, Mapping[str, str]]) -> None:
    """Write date, commit and machine of measures by id into claims.toml; everything else stays the same."""
    lines, table = [], ""
    for line in CLAIMS.read_text("utf-8").split("\n"):
        table = line[1:-1] if line.startswith("[") else table
        if line.split(" = ")[0] in measures.get(table, {}):
            continue
        lines.append(line)
        if table in measures and line.startswith("command = "):
            lines += [f'{name} = "{value}"' for name, value in measures[table].items()]
    CLAIMS.write_text("\n".join(lines), "utf-8")


def main() -> int:
    """Measure, and write the page."""
    claims = read_claims()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="ID", choices=[claim.id for claim in claims])
    parser.add_argument("--list", action="store_true", help="print ids and commands, and measure nothing")
    parser.add_argument("--page", action="store_true", help="write docs/claims.md, and measure nothing")
    arguments = parser.parse_args()
    chosen = [claim for claim in claims if not arguments.only or claim.id in arguments.only]
    if arguments.list:
        print("\n".join(f"{claim.id}: python {claim.command}" for claim in chosen))
        return 0
    failed = 0
    for command in dict.fromkeys(() if arguments.page else (claim.command for claim in chosen)):
        shared = [claim for claim in chosen if claim.command == command]
        measure = _measure(command, shared)
        failed += measure is None
        if measure is not None:
            _write_down({claim.id: measure for claim in shared})
    PAGE.write_text(claims_page(read_claims()), "utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
