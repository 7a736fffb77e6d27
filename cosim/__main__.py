"""``python -m cosim`` and ``cosim``: a start that answers Ctrl-C while modules are imported."""

from __future__ import annotations

import sys


def run() -> int:
    """The exit status of the command line of this process."""
    try:
        from cosim.cli import main

        return main()
    except KeyboardInterrupt:  # before `main` could answer it, or after
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
