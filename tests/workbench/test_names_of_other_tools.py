"""Names that other tools use for parts, options and commands are answered with ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from cart_models import cart_model
from workbench_tools import write_model

import cosim
from cosim.cli import main

PARTS = {
    "sine": "measures.sinusoid",
    "signals.sine": "measures.sinusoid",
    "signals.cosine": "measures.sinusoid",
    "integrator": "measures.integrate",
    "gain": "measures.scale",
    "sum": "measures.plus",
    "zoh": "measures.sample_and_hold",
    "signals.saturation": "signals.limiter",
    "signals.table": "signals.time_table",
    "relay": "signals.hysteresis",
    "spring": "mechanics.two_point_spring",
    "mechanics.damper": "mechanics.two_point_damper",
    "torsion_spring": "mechanics.coordinate_spring",
    "mechanics.prismatic": "mechanics.slider",
}


@pytest.mark.parametrize("word", PARTS)
def test_the_name_of_a_part_in_other_tools(word: str) -> None:
    with pytest.raises(cosim.LookUpError) as raised:
        cosim.Model("m").add(word, "part")
    assert raised.value.nearest == PARTS[word]


def test_two_components_claim_no_name_of_other_tools() -> None:
    claimed = [w for e in cosim.registry().entries("component") for w in vars(e.cls).get("known_as", ())]
    assert claimed and len(claimed) == len(set(claimed))


OPTIONS_OF_A_RUN = {
    "untl": "until",
    "t_end": "until",
    "stop_time": "until",
    "duration": "until",
    "dt": "fixed_step",
    "step_size": "fixed_step",
    "max_step": "maximum_step",
    "tolerance": "accuracy",
    "rtol": "relative_tolerance",
    "atol": "absolute_tolerance",
    "method": "integrator",
    "solver": "integrator",
    "outputs": "signals",
}


@pytest.mark.parametrize("word", OPTIONS_OF_A_RUN)
def test_the_name_of_an_option_in_other_tools(word: str) -> None:
    with pytest.raises(
        cosim.kit.OptionError, match=f"no option '{word}' .*Nearest: {OPTIONS_OF_A_RUN[word]}\\."
    ) as raised:
        cart_model().simulate(**{word: 1.0})
    assert raised.value.nearest == OPTIONS_OF_A_RUN[word] and len(str(raised.value).splitlines()) == 1


COMMAND_LINES = {
    ("simulate", "m.toml"): "no command 'simulate'. Nearest: run.",
    ("help",): "no command 'help'. Nearest: describe.",
    ("init", "model"): "no command 'init'. Nearest: new.",
    ("run", "m.toml", "-o", "x.xlsx"): "x.xlsx: no plugin writes results that end in '.xlsx'.",
    ("run", "m.toml", "--tolerance", "1e-6"): "no option '--tolerance'. Nearest: --accuracy.",
    ("run", "m.toml", "--dt", "1e-6"): "no option '--dt'. Nearest: --fixed-step.",
    ("describe", "sine"): "Nearest: measures.sinusoid.",
}


@pytest.mark.parametrize("words", COMMAND_LINES)
def test_a_command_or_an_option_of_other_tools(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(write_model(tmp_path).rename(tmp_path / "m.toml").parent)
    assert main(list(words)) == 2
    assert COMMAND_LINES[words] in capsys.readouterr().err


def test_two_joints_or_integrators_claim_no_name_of_other_tools() -> None:
    """Else the answer would be a guess."""
    for kind in ("joint", "integrator"):
        claimed = [word for e in cosim.registry().entries(kind) for word in getattr(e.cls, "known_as", ())]
        assert claimed and len(claimed) == len(set(claimed))
