"""The lines of one coupling of five FMUs: as a scenario, as an SSP, for MasterSim and in fmpy.

    python benchmarks/ssp/lines.py [--folder FOLDER]

Makes the FMUs (Model.export_fmu) and the files in FOLDER, runs the scenario, the SSP and the loop in fmpy,
checks that they agree, and prints the lines of each, without blank lines and comments. MasterSim is not run
here: its project file says what its manual documents.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
import tokenize
import zipfile
from pathlib import Path

import numpy as np
from lxml import etree

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import loop_fmpy  # noqa: E402
from train_parts import Controller, Wagon  # noqa: E402

import cosim  # noqa: E402
from cosim_fmu import CoSimulation  # noqa: E402
from cosim_fmu.scenario.scenario import Scenario  # noqa: E402

POSITIONS = [f"wagon{i}.wagon.x" for i in range(1, 5)]
TOLERANCE = 1e-12
"""m; the same calls of the same FMUs, so only the last bits may differ."""


def make_fmus(folder: Path) -> None:
    """wagon.fmu and control.fmu."""
    for file, part, kind in (("wagon", "wagon", Wagon), ("control", "law", Controller)):
        model = cosim.Model(file)
        model.simulation["accuracy"] = 1e-8
        model.add(kind, part)
        model.export_fmu(folder / f"{file}.fmu", parameters=["*"])


def master_sim(loop: CoSimulation, until: float) -> str:
    """The project file of MasterSim.

    References
    ----------
    MasterSim, user manual, chapter "Project file format" (doc/manual of github.com/ghorwin/MasterSim).
    """
    lines = ["tStart 0 s", f"tEnd {until} s", f"hStart {loop.step} s", f"hOutputMin {loop.step} s"]
    lines += ["adjustStepSize no", "MasterMode GAUSS_JACOBI", "ErrorControlMode NONE", "maxIterations 1"]
    for number, (name, participant) in enumerate(loop.participants.items()):
        lines.append(f'simulator {number} 0 {name} #447cb4 "{participant.path.name}"')
    lines += [f"graph {'.'.join(link.start)} {'.'.join(link.end)}" for link in loop.links]
    for name, values in loop.start_values.items():
        lines += [f"parameter {name}.{variable} {value}" for variable, value in values.items()]
    return "\n".join(lines) + "\n"


def least_ssd(document: bytes) -> bytes:
    """The SSD without what it may leave out: connectors that nothing is connected to, units, annotations."""
    root = etree.fromstring(document, etree.XMLParser(remove_blank_text=True))
    ends = [
        (wire.get(f"{side}Element"), wire.get(f"{side}Connector"))
        for wire in root.iter("{*}Connection")
        for side in ("start", "end")
    ]
    for element in list(root.iter("{*}Connector", "{*}Units", "{*}Annotations")):
        holder = element.getparent()
        is_connector = etree.QName(element).localname == "Connector"
        if not (is_connector and (holder.getparent().get("name"), element.get("name")) in ends):
            holder.remove(element)
    return bytes(etree.tostring(root, pretty_print=True))


def code_lines(text: str) -> int:
    """Lines of Python, TOML or project text that are neither blank nor comments."""
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines())


def python_lines(text: str) -> int:
    """Lines of Python without docstrings as well."""
    kinds = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines: set[int] = set()
    first = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            first = True
        elif token.type not in (*kinds, tokenize.ENDMARKER):
            if not (first and token.type == tokenize.STRING):
                lines |= set(range(token.start[0], token.end[0] + 1))
            first = False
    return len(lines)


def compare(folder: Path) -> dict[str, int]:
    """Lines of each way to say it, after the runs have agreed."""
    folder.mkdir(parents=True, exist_ok=True)
    make_fmus(folder)
    scenario = folder / "train.toml"
    shutil.copy(HERE / scenario.name, scenario)
    read = Scenario.read(scenario)
    loop = read.couple(CoSimulation)
    assert (len(loop.participants), len(loop.links)) == (5, 22)
    ours = loop.simulate(read.until)
    ssp = loop.to_ssp(folder / "train.ssp", until=read.until)
    with zipfile.ZipFile(ssp) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    document = files["SystemStructure.ssd"]
    files["SystemStructure.ssd"] = least = least_ssd(document)
    with zipfile.ZipFile(folder / "least.ssp", "w") as archive:
        for name, contents in files.items():
            archive.writestr(name, contents)
    results = {
        "SSP": CoSimulation.from_ssp(ssp).simulate(),
        "SSP, the least": CoSimulation.from_ssp(folder / "least.ssp", step=loop.step).simulate(),
    }
    others = {name: np.column_stack([r.time, *(r[p] for p in POSITIONS)]) for name, r in results.items()}
    others["fmpy"] = loop_fmpy.run(folder)
    expected = np.column_stack([ours.time, *(ours[path] for path in POSITIONS)])
    if np.ptp(expected[:, 1]) < 0.01:
        raise SystemExit("the train stands still")
    for name, rows in others.items():
        worst = np.abs(rows - expected).max() if rows.shape == expected.shape else np.inf
        print(f"{name}: differs from the scenario by {worst:.1e} m at most")
        if not worst <= TOLERANCE:
            raise SystemExit(f"{name} does not agree with the scenario")
    project = folder / "train.msim"
    project.write_text(master_sim(loop, read.until), "utf-8")
    return {
        "scenario (train.toml)": code_lines(scenario.read_text("utf-8")),
        "MasterSim project": code_lines(project.read_text("utf-8")),
        "loop in fmpy": python_lines((HERE / "loop_fmpy.py").read_text("utf-8")),
        "SSD, only what has to be there": code_lines(least.decode()),
        "SSD, as to_ssp writes it": code_lines(document.decode()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where files are left; else they are removed")
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        line_counts = compare(folder or Path(scratch))
    print("| five FMUs, 22 connections | lines |\n|---|---:|")
    for name, count in line_counts.items():
        print(f"| {name} | {count} |")


if __name__ == "__main__":
    main()
