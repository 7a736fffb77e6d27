"""`Result.plot`: panels by units, names, files, and axes of the user."""

import sys
from pathlib import Path
from typing import Any
from xml.dom.minidom import parse

import pytest

from cosim import CosimError, Model, Result
from cosim.command_line.printable import printable
from cosim_workbench.plot_plan import plot_plan

UNITS = {f"x{i}": "m" for i in range(40)}
RESULT = Result(
    [0.0, 1.0],
    {
        "a.x": [0.0, 1.0],
        "a.v": [0.0, 1.0],
        "b.x": [1.0, 2.0],
        "b.f": [[1.0, 2.0], [3.0, 4.0]],
        "n": [1.0, 1.0],
    },
    {"a.x": "m", "a.v": "m/s", "b.x": "m", "b.f": "N"},
)


def test_signals_of_one_unit_share_a_panel() -> None:
    axes = RESULT.plot().axes
    assert [panel.get_ylabel() for panel in axes] == ["position in m", "a.v in m/s", "force in N"]
    labels = [[line.get_label() for line in panel.lines] for panel in axes]
    assert labels == [["a.x", "b.x"], ["a.v"], ["b.f[0]", "b.f[1]"]]
    assert axes[-1].get_xlabel() == "time in s"
    assert axes[2].lines[1].get_ydata().tolist() == [2.0, 4.0]


def test_text_is_named_in_a_note_and_not_drawn() -> None:
    plan = plot_plan(Result([0.0, 1.0], {"x": [0.0, 1.0], "on": [True, False], "mode": ["a", "b"]}))
    assert [line.name for panel in plan.panels for line in panel.lines] == ["x", "on"]
    assert plan.notes == ("text, not drawn: mode",)
    with pytest.raises(CosimError, match=r"nothing to draw.*\(mode\)"):
        Result([0.0], {"mode": ["a"]}).plot()


def test_many_signals_have_colors_of_their_own_and_names_beside_the_panel() -> None:
    figure = Result([0.0, 1.0], {f"x{i}": [0.0, 1.0 + i] for i in range(40)}, UNITS).plot("*")
    (panel,) = figure.axes
    assert len({tuple(line.get_color()) for line in panel.lines}) == 40
    figure.canvas.draw()
    legend = panel.get_legend().get_window_extent()
    assert legend.x0 >= panel.get_window_extent().x1 - 1.0


def test_panels_without_a_unit_say_so_or_name_their_signal() -> None:
    several = Result([0.0], {"a": [1.0], "b": [2.0], "x": [1.0]}, {"x": "m"})
    assert [panel.get_ylabel() for panel in several.plot().axes] == ["value", "x in m"]
    assert [panel.get_ylabel() for panel in several.plot("b").axes] == ["b"]


def test_a_notebook_shows_the_figure() -> None:
    assert RESULT.plot()._repr_png_().startswith(b"\x89PNG")


def test_the_title_is_the_name_of_the_model() -> None:
    model = Model("quiet")
    model.add("measures.constant", "one", value=1.0)
    assert model.simulate(until=0.1).plot("one").get_suptitle() == "quiet"
    assert RESULT.plot().get_suptitle() == ""


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_picture_is_written_in_the_format_of_its_ending(tmp_path: Path, ending: str, magic: bytes) -> None:
    path = tmp_path / f"r.{ending}"
    assert RESULT.plot("a.*", path=path) == path
    assert path.read_bytes().startswith(magic)
    assert list(tmp_path.iterdir()) == [path]


def test_an_ending_of_no_picture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CosimError, match=r"picture ends.*\.png, \.svg, \.pdf, \.html"):
        RESULT.plot(path=tmp_path / "r.bmp")


def test_a_result_without_signals_is_refused() -> None:
    with pytest.raises(CosimError, match="nothing to draw"):
        Result([0.0], {}).plot()


def test_without_matplotlib_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(CosimError, match=r"pip install 'cosim-framework\[plot\]'"):
        RESULT.plot()


def test_axes_of_the_user_get_all_signals() -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = figure.subplots()
    result = Result([0.0, 1.0], {"a.x": [0.0, 1.0], "a.v": [2.0, 3.0]}, {"a.x": "m", "a.v": "m/s"})
    assert result.plot("a.x", "a.v", ax=axes) is axes
    assert [line.get_label() for line in axes.lines] == ["a.x in m", "a.v in m/s"]
    assert axes.lines[1].get_ydata().tolist() == [2.0, 3.0] and axes.get_xlabel() == "time in s"
    axes_of_one_signal = result.plot("a.x", ax=figure.subplots())
    assert axes_of_one_signal.get_ylabel() == "a.x in m"


def test_wrong_axes_of_the_user() -> None:
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"ax": 5}, "ax: is 5, needs matplotlib axes: ax=plt.gca()"),
        ({"ax": axes, "path": "x.png"}, "path and ax exclude each other"),
        ({"axes": axes}, "no option 'axes' .* Nearest: ax."),
    ]
    for options, message in wrong:
        with pytest.raises(CosimError, match=message):
            RESULT.plot("a.x", **options)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["a$b$", "$\\frac$", "_hidden", "a\x1b[2J\x07b", "\x9b2J", "\\$", "$"])
def test_names_with_special_characters_are_drawn_as_they_are(name: str, tmp_path: Path) -> None:
    """Dollar signs make no mathematics, a first underscore does not hide a line, and SVG stays XML."""
    result = Result([0.0, 1.0], {name: [0.0, 1.0], "other": [1.0, 3.0]}, {name: "m", "other": "m"})
    result.statistics["model"] = name
    figure = result.plot()
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert len(texts) == 2 and texts[0].strip().replace(r"\$", "$") == printable(name)
    result.plot(path=tmp_path / "named.svg")
    assert parse(str(tmp_path / "named.svg")).documentElement.tagName == "svg"
    result.plot(path=tmp_path / "named.html")
    result.plot(name, path=tmp_path / "alone.png")  # its axis has the name
    user_figure = type(figure)()
    result.plot(ax=user_figure.subplots())
    user_figure.savefig(tmp_path / "user.png")
