import os
import signal

import pytest

from cosim import kit


def test_results_are_written_however_often_ctrl_c_is_pressed() -> None:
    written = []
    with kit.uninterrupted():
        for line in range(3):
            os.kill(os.getpid(), signal.SIGINT)
            written.append(line)
    assert written == [0, 1, 2]
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
