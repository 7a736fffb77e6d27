"""Sources can be parsed in several threads at once while garbage is collected."""

from __future__ import annotations

import inspect
import sys
import threading
import time

from cosim_compiler.sources import kernel_source


class Cycle:
    """Garbage that lets another thread run when it is collected."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        time.sleep(0)


def test_parsing_in_several_threads_raises_no_system_error() -> None:
    source = inspect.getsource(kernel_source) * 3
    errors: list[SystemError] = []

    def parse_repeatedly() -> None:
        for _ in range(30):
            for _ in range(50):  # enough garbage for a collection during the parse
                Cycle()
            try:
                kernel_source.parse(source)
            except SystemError as error:
                errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=parse_repeatedly) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
