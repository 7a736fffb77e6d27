"""Sources are read in several threads at once, while garbage is collected."""

from __future__ import annotations

import inspect
import sys
import threading
import time

from cosim_compiler.sources import kernel_source


class Cycle:
    """Garbage that lets another thread go on when it is collected."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        time.sleep(0)


def test_trees_are_made_in_several_threads_at_once() -> None:
    source = inspect.getsource(kernel_source) * 3
    errors: list[SystemError] = []

    def read() -> None:
        for _ in range(30):
            for _ in range(50):
                Cycle()
            try:
                kernel_source.parse(source)
            except SystemError as error:
                errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
