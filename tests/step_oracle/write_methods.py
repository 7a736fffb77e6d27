"""Computes the file of digests of methods again: ``python write_methods.py [SEED …]``.

Without seeds all are computed; else only these change.
"""

from __future__ import annotations

import sys

from method_digests import FILE, digests_of_all, write_digests, written_digests
from oracle_data import written_outcomes


def main(seeds: list[str]) -> None:
    written = written_digests() if FILE.exists() and seeds else {}
    write_digests({**written, **dict(digests_of_all(map(int, seeds or written_outcomes())))})


if __name__ == "__main__":
    main(sys.argv[1:])
