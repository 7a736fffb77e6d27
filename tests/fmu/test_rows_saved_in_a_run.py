"""The command saves rows of the result while a run is going on."""

from pathlib import Path
from typing import Any

import pytest
from faults_fmu import SCENARIO, last_time

import cosim


def test_rows_are_saved_while_a_run_goes_on(
    make_fmu: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the process of a run is killed, the rows that were saved last remain."""
    from cosim.cli import main
    from cosim_fmu.command import saved_rows

    monkeypatch.setattr(saved_rows, "SECONDS", 0.0)
    monkeypatch.setattr(saved_rows, "SHARE", 1e9)
    monkeypatch.chdir(tmp_path)
    saved_times = []
    save = cosim.save_result

    def save_and_read(sink: Any, result: cosim.Result, target: Path, rows: int = 0) -> None:
        save(sink, result, target, rows)
        saved_times.append(last_time(tmp_path))

    monkeypatch.setattr(cosim, "save_result", save_and_read)
    text = SCENARIO.replace("u = 1.0", "pause = 0.03")
    (tmp_path / "s.toml").write_text(text.format(fmu=make_fmu("heavy").name, more="", limit=""))
    assert main(["cosimulate", "s.toml", "-o", "out.csv", "--quiet"]) == 0
    assert len(saved_times) >= 3 and saved_times == sorted(saved_times)
    assert saved_times[0] < 1.0 and saved_times[-1] == 1.0
