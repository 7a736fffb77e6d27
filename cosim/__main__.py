"""``python -m cosim`` is ``cosim``."""

import os
import sys


def remove_working_folder() -> None:
    """Take the present folder off the path, where ``-m`` has put it: files of users lie there."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if sys.path and not sys.flags.safe_path and sys.path[0] == os.getcwd() != package:
        del sys.path[0]


if __name__ == "__main__":
    remove_working_folder()

    from cosim.cli import main

    sys.exit(main())
