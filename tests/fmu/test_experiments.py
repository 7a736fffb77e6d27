"""Exports write experiments with reference results into FMUs, and `cosim validate` runs them."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from export_tools import export, oscillator

from cosim.cli import main
from cosim.kit import remove_folder
from cosim_export.interface.smoke_experiment import add_smoke_experiment
from cosim_fmi.fmu_archive import FmuArchive
from cosim_fmi.validate.compare_experiment import at_time, disagreements
from cosim_fmi.validate.experiments import MANIFEST, PLACE, read_experiments
from cosim_fmi.validate.finding import Finding
from cosim_fmi.validate.validate_command import check_run

Make = Callable[..., Path]
RELATED = '<Related type="application/x-ma-hs-experiments" role="{role}" source="{source}"/>'
MANIFEST_HEAD = (
    '<fmiReferences xmlns:fmi-ls="http://fmi-standard.org/fmi-ls-manifest" '
    'fmi-ls:fmi-ls-name="org.fmi-standard.fmi-ls-ref" fmi-ls:fmi-ls-version="1.0.0-alpha.1" '
    'fmi-ls:fmi-ls-description="x">'
)
TIMES = '<TransientSimulation startTime="0" stopTime="0.2" stepSize="0.1"/>'
SSV = (
    '<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" '
    'name="p"><ssv:Parameters><ssv:Parameter name="gain"><ssv:Real value="3"/></ssv:Parameter>'
    "</ssv:Parameters></ssv:ParameterSet>"
)


def add_experiment(
    fmu: Path, files: Mapping[str, str], role: str = "experiment", source: str = "one.exp"
) -> Path:
    """Add an experiment and other files to an FMU, in the folder of the layered standard."""
    with zipfile.ZipFile(fmu, "a") as archive:
        archive.writestr(
            f"{PLACE}/{MANIFEST}",
            f"{MANIFEST_HEAD}{RELATED.format(role=role, source=source)}</fmiReferences>",
        )
        for name, text in files.items():
            archive.writestr(f"{PLACE}/{name}", text)
    return fmu


def experiment(inner: str, attributes: str = "") -> str:
    """The text of a file with one experiment."""
    return f'<Experiments name="x"><Experiment name="one" {attributes}>{inner}</Experiment></Experiments>'


def faults_of(folder: Path, files: Mapping[str, str], source: str) -> list[str]:
    """The faults that are found in an experiment whose files are in the folder of an unpacked FMU."""
    manifest = f"{MANIFEST_HEAD}{RELATED.format(role='experiment', source=source)}</fmiReferences>"
    for name, text in {MANIFEST: manifest, **files}.items():
        (folder / PLACE / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / PLACE / name).write_text(text, "utf-8")
    experiments, faults = read_experiments(folder)
    assert experiments == []
    return faults


def findings(fmu: Path) -> list[Finding]:
    """The findings of a validation that concern experiments."""
    return [f for f in check_run(fmu, 20.0) if f.where == "experiments"]


GAIN = {
    "one.exp": experiment(
        f'{TIMES}<Parameters source="p.ssv"/><Stimuli source="in.csv"/><References source="out.csv"/>'
    ),
    "p.ssv": SSV,
    "in.csv": "time,u\n0,1\n0.1,2\n0.2,5\n",
    "out.csv": "time,y\n0,3\n0.1,3\n0.2,6\n",  # y = 3 u with the input of the start of a step
}


class TestForeignExperiments:
    """The experiments that any FMU may contain."""

    @pytest.mark.few(1)
    @pytest.mark.parametrize("role", ["experiment", "experiment/smoke-test", "experiment/validation"])
    def test_an_experiment_with_parameters_stimuli_and_references_is_run(
        self, make_fmu: Make, role: str
    ) -> None:
        assert findings(add_experiment(make_fmu("gain"), GAIN, role)) == []

    def test_a_result_that_differs_is_an_error(self, make_fmu: Make) -> None:
        (finding,) = findings(
            add_experiment(make_fmu("gain"), {**GAIN, "out.csv": "time,y\n0,3\n0.1,3\n0.2,6.01\n"})
        )
        assert finding.severity == "error"
        assert finding.text == "one: y differs from its reference by 0.01 at t = 0.2 s, allowed: 0.00301"

    @pytest.mark.thorough
    def test_times_may_be_attributes_of_the_experiment_as_in_older_drafts(self, make_fmu: Make) -> None:
        inner = (
            GAIN["one.exp"]
            .replace(TIMES, "")
            .replace('name="one"', 'name="one" stopTime="0.2" stepSize="0.1"')
        )
        assert findings(add_experiment(make_fmu("gain"), {**GAIN, "one.exp": inner})) == []
        wrong = {**GAIN, "one.exp": inner, "out.csv": "time,y\n0,3\n0.2,7\n"}
        assert len(findings(add_experiment(make_fmu("gain", name="other"), wrong))) == 1

    def test_other_roles_are_not_run(self, make_fmu: Make) -> None:
        assert findings(add_experiment(make_fmu("gain"), {"one.exp": "no XML"}, "document")) == []

    @pytest.mark.parametrize(
        ("files", "source", "says"),
        [
            ({}, "one.exp", "one.exp is missing"),
            ({}, "../../../../etc/passwd", "is not a file of this FMU"),
            ({}, "http://example.com/one.exp", "is not a file of this FMU"),
            ({"one.exp": "<Experiments"}, "one.exp", "one.exp is not XML"),
            ({"one.exp": "<!DOCTYPE x><x/>"}, "one.exp", "has a document type, which is refused"),
            ({"one.exp": experiment("<SteadyState/>")}, "one.exp", "SteadyState is not run"),
            ({"one.exp": experiment(TIMES)}, "one.exp", "has no references"),
            ({**GAIN, "out.csv": "time\n0\n"}, "one.exp", "out.csv has no signals"),
            ({**GAIN, "out.csv": "time,y\n0,x\n"}, "one.exp", "out.csv:2: 'x' is not a number"),
            ({**GAIN, "out.csv": "time,y\n0\n"}, "one.exp", "out.csv:2: has 1 values, needs 2"),
            ({**GAIN, "out.csv": "time,y\n1,0\n0,0\n"}, "one.exp", "its times fall"),
            (
                {**GAIN, "one.exp": GAIN["one.exp"].replace('"0.2"', '"0"')},
                "one.exp",
                "its times cannot be run: from 0 s to 0 s in steps of 0.1 s",
            ),
        ],
    )
    def test_faults_of_an_experiment_are_reported(
        self, tmp_path: Path, files: Mapping[str, str], source: str, says: str
    ) -> None:
        (fault,) = faults_of(tmp_path, files, source)
        assert says in fault

    def test_a_fault_of_an_experiment_is_a_warning(self, make_fmu: Make) -> None:
        (finding,) = findings(add_experiment(make_fmu("gain"), {}))
        assert (finding.severity, finding.text) == ("warning", "one.exp is missing")

    def test_a_signal_that_the_fmu_does_not_have_is_an_error(self, make_fmu: Make) -> None:
        (finding,) = findings(add_experiment(make_fmu("gain"), {**GAIN, "out.csv": "time,z\n0,3\n"}))
        assert finding.severity == "error" and "names z," in finding.text


class TestSmokeExperiments:
    """An export adds the start of a run as an experiment."""

    @pytest.mark.thorough
    def test_a_smoke_experiment_has_fifty_steps_and_all_outputs(self, make_fmu: Make, tmp_path: Path) -> None:
        fmu = export(oscillator(), tmp_path / "x.fmu", step_size=0.01, stop_time=1.0)
        assert add_smoke_experiment(fmu) == ""
        folder = FmuArchive(fmu).unpack()
        try:
            (experiment,), faults = read_experiments(folder)
        finally:
            remove_folder(folder)
        assert faults == []
        assert (experiment["start"], experiment["stop"], experiment["step"]) == (0.0, 0.5, 0.01)
        assert len(experiment["references"]["felt"]) == 51
        assert experiment["relative"] == 1e-5
        gain = make_fmu("gain")
        assert add_smoke_experiment(gain) == "" and findings(gain) == []

    def test_an_fmu_without_a_binary_for_this_machine_has_none(self, make_fmu: Make, tmp_path: Path) -> None:
        fmu = make_fmu("gain")
        without_binary = tmp_path / "other.fmu"
        with zipfile.ZipFile(fmu) as archive, zipfile.ZipFile(without_binary, "w") as target:
            target.writestr("modelDescription.xml", archive.read("modelDescription.xml"))
        assert add_smoke_experiment(without_binary).startswith("no smoke experiment: it has no binary for ")

    def test_an_fmu_without_finite_outputs_has_none(self, make_fmu: Make) -> None:
        fmu = make_fmu("naughty", macros=("BLOWS_UP",))
        before = fmu.read_bytes()
        assert add_smoke_experiment(fmu) == "no smoke experiment: none of its outputs is finite"
        assert fmu.read_bytes() == before


class TestReport:
    """The page of ``cosim validate *.fmu --report page.html``."""

    def test_the_page_has_a_row_for_each_fmu(
        self,
        make_fmu: Make,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.chdir(tmp_path)
        add_experiment(make_fmu("gain", tool="A &lt;tool>"), GAIN)
        make_fmu("naughty", macros=("HIDES",))
        (tmp_path / "bad.fmu").write_bytes(b"no archive")
        assert main(["validate", "gain.fmu", "naughty.fmu", "bad.fmu", "--report", "page.html"]) == 1
        assert "report → page.html" in capsys.readouterr().out
        page = (tmp_path / "page.html").read_text("utf-8")
        assert "A &lt;tool&gt;</td><td>2.0</td><td>CS</td>" in page
        assert "<td>1, agree</td>" in page
        assert "state: after restoring" in page
        assert page.count("<tr><td>") + page.count('<tr><td><a href="#fmu') >= 3
        assert "FMU: not a ZIP archive" in page

    def test_the_folder_of_the_page_has_to_exist(self, make_fmu: Make, tmp_path: Path) -> None:
        assert main(["validate", str(make_fmu("gain")), "--report", str(tmp_path / "no" / "page.html")]) != 0


def test_a_series_is_interpolated_or_held_and_constant_outside() -> None:
    """At a time with two values, the second one counts."""
    series = {"time": [0.0, 1.0, 1.0, 3.0], "u": [0.0, 2.0, 5.0, 7.0]}
    expected = {
        -1.0: (0.0, 0.0),
        0.0: (0.0, 0.0),
        0.5: (1.0, 0.0),
        1.0: (5.0, 5.0),
        2.0: (6.0, 5.0),
        3.0: (7.0, 7.0),
        9.0: (7.0, 7.0),
    }
    for time, (linear, held) in expected.items():
        assert at_time(series, "u", time, is_linear=True) == linear
        assert at_time(series, "u", time, is_linear=False) == held


@pytest.mark.parametrize(
    ("values", "differs"),
    [
        ([1.0, 1.0], False),
        ([1.0, 1.0 + 0.9e-3], False),
        ([1.0, 1.0 + 1.1e-3], True),
        ([1.0, float("nan")], True),
    ],
)
def test_the_tolerance_of_a_constant_is_relative_to_its_value(values: list[float], differs: bool) -> None:
    reference = {"references": {"time": [0.0, 1.0], "y": [1.0, 1.0]}, "relative": 1e-3}
    assert bool([*disagreements(reference, {"time": [0.0, 1.0], "y": values}, ["y"])]) == differs


def test_integers_have_no_tolerance() -> None:
    """The signals in the last argument are real; ``n`` is not among them."""
    reference = {"references": {"time": [0.0, 1.0], "n": [3.0, 4.0]}, "relative": 0.9}
    assert [*disagreements(reference, {"time": [0.0, 1.0], "n": [3.0, 4.0]}, [])] == []
    assert len([*disagreements(reference, {"time": [0.0, 1.0], "n": [3.0, 3.0]}, [])]) == 1
