"""Files and outputs that make no sense end with one line that says what to do."""

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

GOOD = '[participants.m]\nfmu = "gain.fmu"\n[master]\nalgorithm = "jacobi"\nstep = 0.1\nuntil = 1.0\n'
HUGE = "1" + "0" * 400


def couple(folder: Path, text: str) -> None:
    from cosim_fmu import CoSimulation
    from cosim_fmu.scenario.scenario import Scenario

    (folder / "s.toml").write_text(text)
    Scenario.read(folder / "s.toml").couple(CoSimulation)


@pytest.mark.parametrize(
    ("text", "said"),
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
            GOOD.replace("step = 0.1", f"step = {HUGE}"),
            "s.toml:5: master.step: an integer has",
        ),
        (GOOD + f"tolerance = {HUGE}", "master.tolerance: an integer has at most 64 bits"),
        (GOOD + f'[parameters]\n"m.gain" = {HUGE}', "s.toml:8: parameters.m.gain: an integer has at most"),
        (GOOD + f'[parameters]\n"m.gain" = 1{"0" * 5000}', "has an integer of thousands of digits"),
        (GOOD + ".".join("a" * 20_000) + " = 1", "more than 200 dots"),
        (GOOD + f'[[connections]]\nfrom = "{"." * 20000}"\nto = "m.u"', "no participant ''"),
    ],
)
def test_scenarios_that_make_no_sense(text: str, said: str, make_fmu: Any, tmp_path: Path) -> None:
    make_fmu("gain")
    with pytest.raises(cosim.ModelError) as caught:
        couple(tmp_path, text)
    assert said in str(caught.value)


ENDED = "ended with 2\n"
ONE_BY_ONE = """
import json, sys
from cosim.cli import main
for words in json.loads(sys.argv[1]):
    print("ended with", main(words), file=sys.stderr, flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_pipes_are_no_files(tmp_path: Path, make_fmu: Any) -> None:
    make_fmu("gain")
    os.mkfifo(tmp_path / "pipe.toml")
    os.mkfifo(tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.fmu")
    (tmp_path / "good.toml").write_text(GOOD)
    (tmp_path / "fmu.toml").write_text(GOOD.replace("gain.fmu", "pipe.fmu"))
    commands = [
        ["cosimulate", "pipe.toml", "-o", "out.csv"],
        ["cosimulate", "good.toml", "-o", "pipe.csv"],
        ["cosimulate", "fmu.toml", "-o", "out.csv"],
        ["sweep", "pipe.toml", "--vary", "m.k=1..2:2", "-o", "study"],
    ]
    done = subprocess.run(  # one process that may hang, for all of them
        [sys.executable, "-c", ONE_BY_ONE, json.dumps(commands)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr
    *said, nothing = done.stderr.split(ENDED)
    assert len(said) == len(commands) and all("is a pipe" in text for text in said) and not nothing.strip()


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


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda name: name[:8])
def test_an_encoding_that_nobody_knows_is_one_short_sentence(
    encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        text = f'<?xml version="1.0" encoding="{encoding}"?><fmiModelDescription fmiVersion="2.0"/>'
        archive.writestr("modelDescription.xml", text)
    for words, status in ((["info"], 2), (["validate", "--static"], 1)):
        assert main([*words, str(path)]) == status
        told = capsys.readouterr()
        (said,) = [line for line in (told.out + told.err).splitlines() if "modelDescription.xml" in line]
        assert "modelDescription.xml cannot be read: it" in said and "codecs" not in said
        assert len(said) < 300 + len(str(path))


@pytest.mark.few(1)
@pytest.mark.parametrize("inner", ["", '<CoSimulation modelIdentifier="gain"/>'])
def test_descriptions_of_endless_depth(inner: str, tmp_path: Path) -> None:
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
def test_an_output_that_is_full(words: list[str], unbuffered: str, tmp_path: Path, make_fmu: Any) -> None:
    make_fmu("gain")
    (tmp_path / "good.toml").write_text(GOOD)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cosim", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 1
    assert done.stderr == "standard output cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
def test_an_output_that_is_closed(tmp_path: Path) -> None:
    command = f"{sys.executable} -m cosim plugins >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("standard output is closed: ")
    assert done.stderr.count("\n") == 1
