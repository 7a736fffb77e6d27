"""The toys stand in modules beside this file: a process of its own has to find them too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
