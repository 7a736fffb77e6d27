"""The tests of the Kalman-filter example."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "kalman_filter"))

from test_kalman_filter import TestKalmanFilter as TestKalmanFilter  # noqa: E402
from test_kalman_filter import test_is_what_numpy_computes as test_is_what_numpy_computes  # noqa: E402
