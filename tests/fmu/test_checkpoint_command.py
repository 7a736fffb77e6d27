"""The command `cosim cosimulate` writes checkpoints and resumes from them, also after it was killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cosim.cli import main

MakeFmu = Callable[..., Path]
SCENARIO = """
connections = ["left.force -> right.f", "right.x -> left.x_other", "right.v -> left.v_other"]
[participants.left]
fmu = "mass.fmu"
process = true
[participants.left.parameters]
kc = 2.0
cc = 0.1
[participants.right]
fmu = "mass.fmu"
[master]
algorithm = "waveform_iteration"
step = "0.5 ms"
until = 1.0
"""


def write_scenario(make_fmu: MakeFmu, folder: Path) -> Path:
    """Write a scenario with a participant in a process of its own."""
    (folder / "mass.fmu").write_bytes(make_fmu("mass").read_bytes())
    path = folder / "loop.toml"
    path.write_text(SCENARIO)
    return path


def test_the_command_resumes_to_the_same_file_and_refuses_wrong_arguments(
    make_fmu: MakeFmu, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_scenario(make_fmu, tmp_path)
    path.write_text(
        SCENARIO.replace("0.5 ms", "20 ms").replace("process = true", "").replace("= 1.0", "= 0.2")
    )
    outputs = [tmp_path / "whole.csv", tmp_path / "resumed.csv"]
    saved = tmp_path / "saved"
    command = ["cosimulate", str(path), "-q", "-o"]
    assert main([*command, str(outputs[0]), "--checkpoint", str(saved), "--checkpoint-every", "1 ms"]) == 0
    assert main([*command, str(outputs[1]), "--resume", str(saved)]) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert main([*command, str(outputs[1]), "--resume", str(path)]) != 0
    assert main([*command, str(outputs[1]), "--resume", str(tmp_path / "nothing")]) != 0
    assert main([*command, str(outputs[1]), "--checkpoint", str(tmp_path)]) != 0
    assert main([*command, str(outputs[1]), "--checkpoint", str(saved), "--checkpoint-every", "0 s"]) != 0
    messages = capsys.readouterr().err
    assert "Traceback" not in messages
    assert "checkpoint of a co-simulation" in messages


def left_over(folder: Path) -> list[str]:
    """Ids of processes that belong to a run in this folder and have not ended."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                marks = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if f"KILLED_IN={folder}".encode() in marks and state != "Z":
                processes.append(entry.name)
    return processes


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_bytes(
    make_fmu: MakeFmu, tmp_path: Path
) -> None:
    """After each of 50 kills at random moments the last checkpoint is resumed; no process is left over."""
    path = write_scenario(make_fmu, tmp_path)
    whole, output, saved = tmp_path / "whole.csv", tmp_path / "r.csv", tmp_path / "saved"
    environment = {**os.environ, "KILLED_IN": str(tmp_path)}
    command = [sys.executable, "-m", "cosim", "cosimulate", str(path), "-q", "-o"]
    start = time.perf_counter()
    subprocess.run([*command, str(whole)], check=True, env=environment)
    duration = time.perf_counter() - start
    rng, kills = random.Random(25), 0
    resume: list[str] = []
    while kills < 50:  # each run starts from the last checkpoint; one that ends in time starts anew
        run = subprocess.Popen(
            [*command, str(output), "--checkpoint", str(saved), "--checkpoint-every", "20 ms", *resume],
            env=environment,
        )
        try:
            code = run.wait(rng.uniform(0.2, 1.2) * duration)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
            kills += 1
        else:
            assert code == 0
            assert output.read_bytes() == whole.read_bytes()
            saved.unlink()
            output.unlink()
        resume = ["--resume", str(saved)] if saved.exists() else []
    subprocess.run([*command, str(output), *resume], check=True, env=environment)
    assert output.read_bytes() == whole.read_bytes()
    for _ in range(100):  # processes may take up to 10 s to end
        if not left_over(tmp_path):
            break
        time.sleep(0.1)
    assert left_over(tmp_path) == []
