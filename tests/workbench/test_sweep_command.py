"""`cosim sweep`: its faults, and studies that are killed or interrupted and continue."""

import csv
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from how_many import many
from workbench_tools import MASS, write_model

from cosim.cli import main

SAMPLE = ("--vary", f"{MASS}=100 kg..140 kg", "--sample", "latin:60", "--seed", "5")


GRID = ("--vary", f"{MASS}=100 kg..140 kg:60")  # a grid needs no SciPy


def command(folder, *options, points=SAMPLE):
    """The words of a sweep of 60 points in a process of its own; each point takes 50 ms and more."""
    words = ["sweep", "mount.toml", *points, "--until", "2 ms", "--threads", "1"]
    words += ["--objective", "study_objectives:slow", "--objective", "max(engine.vz)", "-o", folder, *options]
    return [sys.executable, "-m", "cosim", *words]


def environment():
    """Variables of a process that finds the module `study_objectives`."""
    folder = str(Path(__file__).parent)
    path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


def rows_of(folder):
    """The rows of the table of a study, without the seconds that each took."""
    with (folder / "table.csv").open(encoding="utf-8", newline="") as stream:
        return [row[:-1] for row in csv.reader(stream)]


def part_files(folder):
    """The files of a study to which each piece of its table is written as soon as it is done."""
    return list(folder.glob("part-*"))


def kill_after_a_part(process, folder, delay):
    """Kill a sweep some time (s) after it has written one more part; False if it ends before."""
    deadline = time.monotonic() + 600.0  # it may have to compile first
    count = len(part_files(folder))
    while process.poll() is None and len(part_files(folder)) <= count:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(delay)
    if process.poll() is not None:
        return False
    process.send_signal(signal.SIGKILL)
    process.wait()
    return True


@pytest.mark.thorough
def test_a_study_that_is_killed_goes_on(tmp_path):
    write_model(tmp_path)
    run = {"cwd": tmp_path, "env": environment()}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # beside the others: their objective mostly sleeps
    uninterrupted = subprocess.Popen(command("whole"), **run, **pipes)
    draw, kills = random.Random(1), 0
    for _ in range(many(1)):
        process = subprocess.Popen(command("killed", "-q"), **run, stderr=subprocess.DEVNULL)
        if not kill_after_a_part(process, tmp_path / "killed", draw.random() * 0.1):
            break
        kills += 1
    last = subprocess.run(command("killed"), **run, capture_output=True, text=True)
    assert last.returncode == 0, last.stderr
    assert kills >= 1

    output, errors = uninterrupted.communicate(timeout=600)
    assert uninterrupted.returncode == 0, errors
    assert "60 points" in output and "table → whole/table.csv" in output
    assert rows_of(tmp_path / "killed") == rows_of(tmp_path / "whole")
    # no point was run twice
    parts = [part.read_text("utf-8").splitlines()[1:-1] for part in (tmp_path / "killed").glob("part-*.csv")]
    points = [row.partition(",")[0] for part in parts for row in part]
    assert sorted(map(int, points)) == list(range(60))


class Sweep(NamedTuple):
    """A sweep in a process of its own, with the signal that it gets and the exit status that follows."""

    process: subprocess.Popen
    folder: Path
    number: signal.Signals
    status: int


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signals")
def test_ctrl_c_and_sigterm_say_how_to_go_on(tmp_path):
    """Of two studies side by side: both sleep mostly."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    sweeps = []
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        folder = tmp_path / number.name
        folder.mkdir()
        write_model(folder)
        process = subprocess.Popen(command("s", points=GRID), cwd=folder, env=environment(), **pipes)
        sweeps.append(Sweep(process, folder, number, status))

    waiting = list(sweeps)
    while waiting:
        assert all(sweep.process.poll() is None for sweep in waiting)
        for sweep in [sweep for sweep in waiting if part_files(sweep.folder / "s")]:
            sweep.process.send_signal(sweep.number)
            waiting.remove(sweep)
        time.sleep(0.01)

    for sweep in sweeps:
        _, errors = sweep.process.communicate(timeout=60)
        assert sweep.process.returncode == sweep.status and "same command continues" in errors
        assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--vary", "engine.mass"], "PATH=VALUES"),
        (["--vary", "engine.mass=1", "--vary", "engine.mass=2"], "there twice"),
        (["--vary", "engine.mass=1..2"], "no count"),
        (["--vary", "engine.mas=1"], "engine.mass"),
        (["--vary", "engine.mass=1", "--threads", "0"], "threads"),
        (["--vary", "engine.mass=1", "--plot", "a.txt"], "picture"),
    ],
)
def test_faults_of_the_command_have_no_traceback(words, message, tmp_path, capsys, monkeypatch):
    write_model(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", "mount.toml", *words]) == 2
    errors = capsys.readouterr().err
    assert message in errors and "Traceback" not in errors


def test_a_sweep_needs_an_end_of_its_runs(tmp_path, capsys, monkeypatch):
    write_model(tmp_path, ('until = "50 ms"\n', ""))
    monkeypatch.chdir(tmp_path)
    words = ["sweep", "mount.toml", "--vary", "engine.mass=100, 140", "--objective", "max(engine.z)", "-q"]
    assert main(words) == 2
    errors = capsys.readouterr().err
    assert "until = … into [simulation], or --until" in errors
    assert not (tmp_path / "mount-study").exists()
    assert main([*words, "--until", "2 ms"]) == 0
