"""Tables written by pyarrow and polars; run by `files.py` in an environment of its own."""

import json
import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars
import pyarrow
import pyarrow.csv
import pyarrow.parquet


def columns_of(rows: int, signals: int) -> dict[str, np.ndarray]:
    """The times of a grid, and signals with all their digits."""
    random = np.random.default_rng(49)
    return {"time": np.arange(rows) * 1e-3, **{f"s{i}": random.standard_normal(rows) for i in range(signals)}}


def least_time(action, rounds: int) -> float:
    """CPU time, s, all threads."""
    best = math.inf
    for _ in range(rounds):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Print the seconds for each case."""
    request = json.loads(sys.argv[1])
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        for rows, signals in request["cases"]:
            columns = columns_of(rows, signals)
            table, frame = pyarrow.table(columns), polars.DataFrame(columns)
            writers = {
                "parquet pyarrow": lambda table=table: pyarrow.parquet.write_table(table, path),
                "csv pyarrow": lambda table=table: pyarrow.csv.write_csv(table, path),
                "csv polars": lambda frame=frame: frame.write_csv(path),
            }
            answers.append({name: least_time(write, request["rounds"]) for name, write in writers.items()})
    print(json.dumps({"rows": answers, "versions": [pyarrow.__version__, polars.__version__]}))


if __name__ == "__main__":
    main()
