"""``python -m cosim`` is ``cosim``."""

import sys

from cosim.cli import main

if __name__ == "__main__":
    sys.exit(main())
