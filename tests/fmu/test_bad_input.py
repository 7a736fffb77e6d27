"""Commands report wrong files, pipes and outputs that cannot be written in one line, without a traceback."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.cli import main

SCENARIO = '[participants.m]\nfmu = "gain.fmu"\n[master]\nalgorithm = "jacobi"\nstep = 0.1\nuntil = 1.0\n'
HUGE_INTEGER = "1" + "0" * 400


RUN_ONE_BY_ONE = """
import json, sys
from cosim.cli import main
for words in json.loads(sys.argv[1]):
    print("ended with", main(words), file=sys.stderr, flush=True)
"""
END_OF_COMMAND = "ended with 2\n"
ENCODINGS = (
    "utf-99",
    "cp037",
    "UTF-16",
    "utf-7",
    "rot13",
    "zip",
    "idna",
    "undefined",
    "mbcs",
    "",
    "x" * 9999,
)


def couple(folder: Path, text: str) -> None:
    """Read a scenario and couple its participants."""
    from cosim_fmu import CoSimulation
    from cosim_fmu.scenario.scenario import Scenario

    (folder / "s.toml").write_text(text)
    Scenario.read(folder / "s.toml").couple(CoSimulation)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '[[connections]]\nfrom = "a.y"\nto = "b.u"\n[master]\nstep = 0.1\nuntil = 1.0',
            "no participant",
        ),
        (
            'participants = 1.0\n[[connections]]\nfrom = "a.y"\nto = "b.u"\n',
            "is 1.0, needs a table",
        ),
        (
            SCENARIO.replace("step = 0.1", f"step = {HUGE_INTEGER}"),
            "s.toml:5: master.step: an integer has",
        ),
        (SCENARIO + f"tolerance = {HUGE_INTEGER}", "master.tolerance: an integer has at most 64 bits"),
        (
            SCENARIO + f'[parameters]\n"m.gain" = {HUGE_INTEGER}',
            "s.toml:8: parameters.m.gain: an integer has at most",
        ),
        (SCENARIO + f'[parameters]\n"m.gain" = 1{"0" * 5000}', "has an integer of thousands of digits"),
        (SCENARIO + ".".join("a" * 20_000) + " = 1", "more than 200 dots"),
        (SCENARIO + f'[[connections]]\nfrom = "{"." * 20000}"\nto = "m.u"', "no participant ''"),
    ],
)
def test_wrong_scenarios_are_refused(text: str, sentence: str, make_fmu: Any, tmp_path: Path) -> None:
    make_fmu("gain")
    with pytest.raises(cosim.ModelError) as caught:
        couple(tmp_path, text)
    assert sentence in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_pipes_are_no_files(tmp_path: Path, make_fmu: Any) -> None:
    make_fmu("gain")
    os.mkfifo(tmp_path / "pipe.toml")
    os.mkfifo(tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.fmu")
    (tmp_path / "good.toml").write_text(SCENARIO)
    (tmp_path / "fmu.toml").write_text(SCENARIO.replace("gain.fmu", "pipe.fmu"))
    commands = [
        ["cosimulate", "pipe.toml", "-o", "out.csv"],
        ["cosimulate", "good.toml", "-o", "pipe.csv"],
        ["cosimulate", "fmu.toml", "-o", "out.csv"],
        ["sweep", "pipe.toml", "--vary", "m.k=1..2:2", "-o", "study"],
    ]
    process = subprocess.run(  # in a process, since a command that opens a pipe hangs
        [sys.executable, "-c", RUN_ONE_BY_ONE, json.dumps(commands)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert process.returncode == 0 and "Traceback" not in process.stderr
    *messages, rest = process.stderr.split(END_OF_COMMAND)
    assert (
        len(messages) == len(commands) and all("is a pipe" in text for text in messages) and not rest.strip()
    )


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda name: name[:8])
def test_an_unusable_encoding_is_reported_in_one_short_sentence(
    encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        text = f'<?xml version="1.0" encoding="{encoding}"?><fmiModelDescription fmiVersion="2.0"/>'
        archive.writestr("modelDescription.xml", text)
    for words, status in ((["info"], 2), (["validate", "--static"], 1)):
        assert main([*words, str(path)]) == status
        output = capsys.readouterr()
        lines = (output.out + output.err).splitlines()
        (message,) = [line for line in lines if "modelDescription.xml" in line]
        assert "modelDescription.xml cannot be read: it" in message and "codecs" not in message
        assert len(message) < 300 + len(str(path))  # a long name of an encoding is not repeated


@pytest.mark.few(1)
@pytest.mark.parametrize("inner", ["", '<CoSimulation modelIdentifier="gain"/>'])
def test_deeply_nested_descriptions_are_refused(inner: str, tmp_path: Path) -> None:
    from cosim_master.participants.create_participants import open_fmu

    head = '<fmiModelDescription fmiVersion="2.0" guid="a" modelName="x">'
    with zipfile.ZipFile(tmp_path / "deep.fmu", "w") as archive:
        deep = "<a>" * 200_000 + "</a>" * 200_000
        archive.writestr("modelDescription.xml", f"{head}{inner}{deep}</fmiModelDescription>")
    with pytest.raises(cosim.FmuError, match="elements are nested.*200"):
        open_fmu(tmp_path / "deep.fmu").describe()


@pytest.mark.few(1)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [["cosimulate", "good.toml", "-o", "out.csv"], ["plugins"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_reported(
    words: list[str], unbuffered: str, tmp_path: Path, make_fmu: Any
) -> None:
    make_fmu("gain")
    (tmp_path / "good.toml").write_text(SCENARIO)
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "cosim", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert process.returncode == 1
    assert process.stderr == "standard output cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
def test_a_closed_standard_output_is_reported(tmp_path: Path) -> None:
    command = f"{sys.executable} -m cosim plugins >&-"
    process = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.returncode == 1 and process.stderr.startswith("standard output is closed: ")
    assert process.stderr.count("\n") == 1
