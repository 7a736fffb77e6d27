"""`Model.from_file` finds whoever reads the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from workbench_tools import write_model

import cosim
from cosim import kit


class Lines(cosim.ModelReader):
    """A measure for each line."""

    suffixes = (".lines", ".txt")

    def read(self, path: Path) -> cosim.Model:
        model = cosim.Model(path.stem)
        for line in path.read_text("utf-8").splitlines():
            model.add("measures.constant", line, value=1.0)
        return model


class Again(Lines):
    """The same ending again."""

    suffixes = (".lines",)


def using(**readers: type) -> Any:
    owner = ("acme", "acme-lines", "1.5")
    entries = [kit.RegisteredClass(f"acme.{name}", cls, *owner) for name, cls in readers.items()]
    acme = kit.PluginRecord(*owner, "acme_lines", "loaded", None, tuple(entries))
    ours = [record for record in kit.Registry.discover().plugins if record.status == "loaded"]
    return kit.use_registry(kit.Registry([*ours, acme]))


def test_our_own_files(tmp_path: Path) -> None:
    model = cosim.Model.from_file(str(write_model(tmp_path, name="Mount.TOML")))
    assert model.name == "engine_mount"
    assert list(model.parts)[-1] == "vertical_speed"
    assert model.simulate(until=0.01).time[-1] == 0.01
    assert cosim.Model.from_dict(model.to_dict()).to_dict() == model.to_dict()


def test_the_files_of_a_stranger(tmp_path: Path) -> None:
    (tmp_path / "m.lines").write_text("a\nb\n")
    with using(lines=Lines):
        assert list(cosim.Model.from_file(tmp_path / "m.lines").parts) == ["a", "b"]
        with pytest.raises(
            cosim.CosimError,
            match=r"m\.x.*plugin reads .*'\.x'..*\.lines, \.txt, \.xml, \.urdf, \.toml",
        ):
            cosim.Model.from_file("m.x")


def test_two_plugins_that_claim_one_ending_are_both_named() -> None:
    with using(lines=Lines, again=Again), pytest.raises(cosim.CosimError) as raised:
        cosim.Model.from_file("m.lines")
    assert "acme.lines" in str(raised.value) and "acme.again" in str(raised.value)


def test_without_any_reader() -> None:
    with kit.use_registry(kit.Registry([])), pytest.raises(cosim.CosimError, match="`cosim plugins`"):
        cosim.Model.from_file("m.toml")


def test_a_model_that_was_corrected_builds(tmp_path: Path) -> None:
    """A fault that is found when the model is built has its line, and does not stick."""
    model = cosim.Model.from_file(write_model(tmp_path, more="[starts]\nengine_joint.u = [1]\n"))
    with pytest.raises(cosim.ModelError, match=r"mount\.toml:27: starts: .*engine_joint\.u") as raised:
        model.build()
    assert str(raised.value).endswith("1 problem, nothing was run.")
    model.set_start("engine_joint.u", [0, 0, 0, 0, 0, 1])
    assert model.build().nu == 6


@pytest.mark.parametrize("suffixes", [(), ".toml", ("toml",), (".TOML",), (".",), (3,)])
def test_what_a_reader_has_to_say(suffixes: Any) -> None:
    with pytest.raises(cosim.ContractError, match="reader Wrong: suffixes"):
        type("Wrong", (cosim.ModelReader,), {"read": Lines.read, "suffixes": suffixes})
