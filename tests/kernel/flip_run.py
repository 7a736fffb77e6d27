"""A process: flips bits in files of its cache folder, one at a time, and counts how uses of the folder end.

Each use is a process, forked when everything is imported and nothing is compiled yet.
"""

import json
import logging
import os
import random
import sys
import warnings
from collections import Counter
from pathlib import Path

import cache_run

from cosim import kit
from cosim.registration.registry import registry
from cosim_compiler import machine


def with_flipped_bit(data, bit):
    """The bytes with one bit changed."""
    return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]


def results_of_all_code():
    """The results of all the code in the folder."""
    compiled, text = cache_run.results(), kit.lower({"curve": (cache_run.curve, "f>f")})
    return json.dumps([*map(float.hex, compiled), text])


def end_of_process(expected):
    """How a process ends that uses the folder."""
    child = os.fork()
    if child == 0:
        try:
            is_right = results_of_all_code() == expected
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(2)
        os._exit(0 if is_right else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "right", 1: "wrong", 2: "raised"}.get(status, f"ended by {status}")


def expected_results(path):
    """The results of a process with intact files; it adds what is missing in the folder."""
    child = os.fork()
    if child == 0:
        path.write_text(results_of_all_code(), "utf-8")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return path.read_text("utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # about forking beside threads
    logging.disable()
    registry()
    machine.versions()
    root = Path(os.environ["COSIM_CACHE_DIR"])
    expected = expected_results(root / "expected")
    kernels = root / "kernels"
    files = sorted(path for path in kernels.rglob("*") if path.is_file() and path.stat().st_size)
    draw = random.Random(17)
    ends = Counter()
    for _ in range(int(sys.argv[1])):
        path = draw.choice(files)
        data = path.read_bytes()
        path.write_bytes(with_flipped_bit(data, draw.randrange(8 * len(data))))
        ends[end_of_process(expected)] += 1
        path.write_bytes(data)
    print(json.dumps(ends))
