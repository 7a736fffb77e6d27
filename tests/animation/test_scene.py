"""The data of an animation: shapes, poses, elements, contacts, signals and events."""

from __future__ import annotations

import base64
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim.cli import main
from cosim_animation.default_shapes import box_of_inertia, rod_between
from cosim_animation.mechanism import Mechanism
from cosim_animation.motion import MOST_FRAMES, frame_rows, quaternions
from cosim_mechanics import Multibody

FOUR_BAR = str(Path(__file__).parent.parent.parent / "examples" / "four_bar" / "four_bar.toml")
LOOKS = """
[bodies.crate]
mass = 1.0
inertia = [1, 1, 1]
joint = "free"

[looks.cab]
type = "{type}"
body = "crate"
color = "{color}"
{sizes}
"""


def scene_in(page: str) -> Any:
    data = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert data is not None
    return json.loads(data[1])


def floats(text: str) -> Any:
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


def pendulum() -> Multibody:
    model = Multibody("pendulum")
    bob = model.body("bob", mass=2.0, inertia=(0.1, 0.2, 0.15), center_of_mass=(0, -0.5, 0))
    frame = ((0, 0, 1), (0, "90 deg", 0))
    model.joint("pin", child=bob, name="hinge", frame_on_parent=frame, frame_on_child=frame, q=0.3)
    model.add("mechanics.two_point_spring", "spring", body1="ground", body2="bob", stiffness=10.0,
              free_length=0.1, station_on_body1=(0, 1, 0), station_on_body2=(0, -0.5, 0))  # fmt: skip
    return model


@pytest.fixture(scope="module")
def run() -> tuple[Multibody, cosim.Result]:
    model = pendulum()
    return model, model.simulate(until=0.2, signals=["hinge.q", "bob.X_GB", "spring.tension"])


def test_poses_agree_with_the_run(run: Any) -> None:
    _, result = run
    scene = scene_in(result.animate().text)
    assert [body["name"] for body in scene["bodies"]] == ["ground", "bob"]
    recorded = result["bob.X_GB"]
    positions = floats(scene["positions"]).reshape(-1, 2, 3)
    np.testing.assert_allclose(positions[:, 1], recorded[:, 9:], atol=1e-6)
    np.testing.assert_allclose(floats(scene["time"]), result.time, atol=1e-6)
    assert not positions[:, 0].any()  # Ground


def test_poses_follow_from_coordinates(run: Any) -> None:
    _, result = run
    coordinates = result.select(["hinge.q"])
    scenes = [scene_in(recorded.animate().text) for recorded in (result, coordinates)]
    for key in ("positions", "turns"):
        np.testing.assert_allclose(*(floats(scene[key]) for scene in scenes), atol=1e-6)
    with pytest.raises(cosim.CosimError, match=r"hinge\.q.*animate the model"):
        result.select(["spring.tension"]).animate()


def test_elements_stretch_between_their_stations(run: Any) -> None:
    _, result = run
    (link,) = scene_in(result.animate().text)["links"]
    assert (link["kind"], link["bodies"], link["points"]) == ("spring", [0, 1], [[0, 1, 0], [0, -0.5, 0]])
    np.testing.assert_allclose(floats(link["tension"]), result["spring.tension"], rtol=1e-6)


def test_signals_are_plotted_once(run: Any) -> None:
    _, result = run
    panels = scene_in(result.animate("hinge.q").text)["panels"]
    assert [line["name"] for panel in panels for line in panel["lines"]] == ["hinge.q"]
    panels = scene_in(result.animate().text)["panels"]
    # Poses and tensions are drawn, not plotted.
    assert [line["name"] for panel in panels for line in panel["lines"]] == ["hinge.q"]


def test_a_result_without_its_model_needs_one(run: Any) -> None:
    model, result = run
    copied = pickle.loads(pickle.dumps(result))
    with pytest.raises(cosim.CosimError, match=r"animate\(model=model\)"):
        copied.animate()
    assert copied.animate(model=model).text == result.animate().text
    with pytest.raises(cosim.CosimError, match="no bodies"):
        copied.animate(model=cosim.Model("empty"))
    with pytest.raises(cosim.CosimError, match="html"):
        result.animate(path="run.mp4")


def test_names_cannot_leave_the_data(tmp_path: Path) -> None:
    model = pendulum()
    model.name = "</script><b>"
    path = model.simulate(until=0.01, signals=["hinge.q"]).animate(path=tmp_path / "page.html")
    page = path.read_text("utf-8")
    assert "</script><b>" not in page
    assert scene_in(page)["title"] == "</script><b>"
    assert "Content-Security-Policy" in page and "http" not in page.replace("http-equiv", "")


def test_commands_write_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run = ["run", FOUR_BAR, "--until", "0.05", "-q"]
    assert main([*run, "--animate", "bar.html"]) == 0
    assert scene_in(Path("bar.html").read_text("utf-8"))["bodies"][1]["shapes"]
    assert main([*run, "--animate", "bar.mp4"]) == 2
    assert main(["animate", FOUR_BAR, "--result", "four_bar.csv", "-o", "again.html", "-q"]) == 0
    capsys.readouterr()
    assert main(["animate", "four_bar.csv", "-o", "again.html"]) == 2
    assert "cosim animate MODEL --result four_bar.csv" in capsys.readouterr().err


def test_a_second_run_is_shown_at_the_times_of_the_first(tmp_path: Path) -> None:
    """Its rows are interpolated linearly; after its end the last row stays."""
    first, second = pendulum(), pendulum()
    second.set_start("hinge.q", 0.1)
    names = ["hinge.q", "bob.X_GB"]
    result = first.simulate(until=0.2, output_interval=0.004, signals=names)
    shorter = second.simulate(until=0.1, output_interval=0.002, signals=names)
    scene = scene_in(result.animate("hinge.q", compared=shorter).text)
    positions = floats(scene["positions2"]).reshape(-1, 2, 3)[:, 1]
    np.testing.assert_allclose(positions[:26], shorter["bob.X_GB"][::2, 9:], atol=1e-6)
    np.testing.assert_allclose(positions[26:], np.tile(shorter["bob.X_GB"][-1, 9:], (25, 1)), atol=1e-6)
    turns = floats(scene["turns2"]).reshape(-1, 2, 4)
    np.testing.assert_allclose(np.linalg.norm(turns, axis=-1), 1.0, atol=1e-6)
    (line,) = scene["panels"][0]["lines"]
    np.testing.assert_allclose(floats(line["second"])[:26], np.ravel(shorter["hinge.q"])[::2], atol=1e-6)
    assert "positions2" not in scene_in(result.animate().text)
    with pytest.raises(cosim.CosimError, match=r"a .glb file can show only one run"):
        result.animate(path=tmp_path / "two.glb", compared=shorter)


def test_a_command_compares_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        assert main(["run", FOUR_BAR, "--until", "0.05", "-q", "-o", name, "--animate", "one.html"]) == 0
    command = ["animate", FOUR_BAR, "--result", "a.csv", "--compare", "b.csv", "-q"]
    assert main([*command, "-o", "two.html"]) == 0
    assert "positions2" in scene_in(Path("two.html").read_text("utf-8"))


def test_arrows_of_a_contact_are_at_its_point() -> None:
    """A ball at rest touches the ground at its lowest point and pushes it with its weight."""
    model = Multibody("ball")
    model.body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.joint("free", child="ball", name="flight", q=(1, 0, 0, 0, 0.3, 0, 0.5))
    values = {"body1": "ground", "body2": "ball", "radius": 0.5, "stiffness": 1e7, "dissipation": 50.0}
    model.add("mechanics.sphere_contact", "touch", **values)
    result = model.simulate(until=0.5, signals=[*Mechanism.of(model).forces(), "flight.q"])
    scene = scene_in(result.animate().text)
    (contact,) = scene["contacts"]
    points, force = (floats(contact[key]).reshape(-1, 3) for key in ("points", "force"))
    assert points[-1] == pytest.approx([0.3, 0, 0], abs=2e-4)  # the ball is 0.16 mm deep in the ground
    assert force[-1] == pytest.approx([0, 0, 2 * 9.81], rel=1e-3)
    assert not any(line["name"].startswith("touch") for panel in scene["panels"] for line in panel["lines"])


def test_moments_of_bushings_have_arrows() -> None:
    model = Multibody("hub")
    model.body("hub", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("free", child="hub", name="free", q=(1, 0, 0, 0, 0, 0, 0), u=(0, 0, 1, 0, 0, 0))
    values = {"body1": "ground", "body2": "hub"}
    model.add(
        "mechanics.linear_bushing", "rubber", **values, stiffness=(5, 5, 5, 100, 100, 100), damping=(0,) * 6
    )
    result = model.simulate(until=0.1, signals=["free.q", "rubber.F_GM"])
    (link,) = scene_in(result.animate().text)["links"]
    np.testing.assert_allclose(floats(link["moment"]).reshape(-1, 3), result["rubber.F_GM"][:, :3], rtol=1e-6)
    np.testing.assert_allclose(floats(link["force"]).reshape(-1, 3), result["rubber.F_GM"][:, 3:], rtol=1e-6)


def test_events_are_marked() -> None:
    model = pendulum()
    model.add("measures.sample_and_hold", "held", source="hinge.angle", period=0.05)
    result = model.simulate(until=0.12, signals=["hinge.q", "held"])
    events = scene_in(result.animate().text)["events"]
    assert {round(event["time"], 9) for event in events} >= {0.0, 0.05, 0.1}
    assert all(event["name"].startswith("held.") for event in events)


@pytest.mark.parametrize("sides", [(1, 2, 3), (1, 1, 1), (0.5, 0, 2), (0, 0, 1), (0, 0, 0)])
def test_the_box_of_an_inertia_has_its_inertia(sides: Any) -> None:
    a, b, c = (side**2 for side in sides)
    box_sides, pose = box_of_inertia(6.0, (1, 2, 3), (0.5 * (b + c), 0.5 * (a + c), 0.5 * (a + b), 0, 0, 0))
    np.testing.assert_allclose(sorted(box_sides), sorted(sides), atol=1e-7)
    assert pose[9:].tolist() == [1, 2, 3]
    assert np.linalg.det(pose[:9].reshape(3, 3)) == pytest.approx(1.0)


def test_a_rod_ends_at_its_points() -> None:
    rod = rod_between((1, 0, 0), (1, 2, 0), 0.1)
    assert rod is not None
    (radius, length), pose = rod
    assert (radius, length, pose[9:].tolist()) == (0.1, 2.0, [1, 1, 0])
    assert (pose[:9].reshape(3, 3) @ [0, 0, 1]).tolist() == [0, 1, 0]
    assert rod_between((1, 0, 0), (1, 0, 0), 0.1) is None


@pytest.mark.parametrize("count", [1, 2, MOST_FRAMES, MOST_FRAMES + 1, 50_000])
def test_frames_include_the_first_and_the_last_row(count: int) -> None:
    rows = frame_rows(np.linspace(0.0, 1.0, count))
    assert rows[0] == 0 and rows[-1] == count - 1 and rows.size <= MOST_FRAMES + 1
    assert (np.diff(rows) > 0).all()


def test_quaternions_do_not_jump() -> None:
    angles = np.linspace(0.0, 4 * np.pi, 200)
    c, s, zero, one = np.cos(angles), np.sin(angles), np.zeros(200), np.ones(200)
    turns = quaternions(np.stack([c, -s, zero, s, c, zero, zero, zero, one], axis=1)[:, None])[:, 0]
    assert np.abs(np.diff(turns, axis=0)).max() < 0.05


@pytest.mark.parametrize(
    ("type", "sizes", "expected"),
    [
        ("box", 'size = ["10 cm", 0.2, 0.3]', [0.1, 0.2, 0.3]),
        ("sphere", "radius = 0.5", [0.5]),
        ("cylinder", "radius = 0.5\nlength = 2", [0.5, 2.0]),
        ("capsule", "radius = 0.5\nlength = 2", [0.5, 2.0]),
        ("cone", "radius = 0.5\nlength = 2", [0.5, 2.0]),
    ],
)
def test_shapes_in_model_files(tmp_path: Path, type: str, sizes: str, expected: list[float]) -> None:
    path = tmp_path / "crate.toml"
    path.write_text(LOOKS.format(type=type, color="#ff0000", sizes=sizes))
    model = cosim.Model.from_file(path)
    scene = scene_in(model.simulate(until=0.01, signals=["crate_joint.q"]).animate().text)
    pose = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    assert scene["bodies"][1]["shapes"] == [
        {"kind": type, "size": expected, "pose": pose, "color": [1, 0, 0]}
    ]


@pytest.mark.parametrize(
    ("color", "sizes", "fault"),
    [
        ("reddish", "radius = 1", 'crate.toml:10.*color is "reddish"'),
        ("red", "radius = 0", "radius"),
        ("red", "radius = 1\nangle = 2", "angle"),
        ("red", "", "radius"),
    ],
)
def test_impossible_shapes_are_refused(tmp_path: Path, color: str, sizes: str, fault: str) -> None:
    path = tmp_path / "crate.toml"
    path.write_text(LOOKS.format(type="sphere", color=color, sizes=sizes))
    with pytest.raises(cosim.ModelError, match=fault):
        cosim.Model.from_file(path).build()
