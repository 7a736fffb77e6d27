"""The page: a scene as data in HTML, with the script that draws it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import choose_signals, write_whole
from cosim_animation.gltf import gltf_of
from cosim_animation.mechanism import Mechanism
from cosim_animation.scene import scene_of

TEMPLATE = Path(__file__).parent / "templates" / "animation.html"
HEIGHT = 560
"""Of a page in a notebook, in pixels."""


class AnimationPage(cosim.ResultSink):
    """A page of HTML that plays a run in 3-D, with everything in it: no network, no other files.

    Or a glTF file (.glb) with the same bodies in motion, for other programs.
    """

    suffixes = (".html", ".glb")

    @staticmethod
    def settings(model: cosim.Model, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Settings of a run that records what the page needs, beside what it records anyway."""
        mechanism = Mechanism.of(model)
        names = choose_signals(model.build(), settings.get("signals"))
        more = [*mechanism.coordinates(), *mechanism.forces()]
        return {**settings, "signals": [*dict.fromkeys([*names, *more])]}

    def write(
        self,
        result: cosim.Result,
        path: Path,
        model: cosim.Model | None = None,
        signals: Sequence[str] = (),
        compared: cosim.Result | None = None,
    ) -> Path:
        """Write the page of a run of a model, or, where the name ends in .glb, a glTF file that moves."""
        if path.suffix.lower() == ".glb":
            if compared is not None:
                raise cosim.CosimError(
                    f"{path}: a .glb file can show only one run: choose a name that ends in .html"
                )
            data = gltf_of(_known(model), result)
        else:
            data = self.text(result, model, signals, compared).encode()
        write_whole(path, data)
        return path

    def show(
        self,
        result: cosim.Result,
        model: cosim.Model | None = None,
        signals: Sequence[str] = (),
        compared: cosim.Result | None = None,
    ) -> Any:
        """The object that a notebook displays."""
        return ShownPage(self.text(result, model, signals, compared))

    def text(
        self,
        result: cosim.Result,
        model: cosim.Model | None,
        signals: Sequence[str],
        compared: cosim.Result | None = None,
    ) -> str:
        """The page of a run of a model."""
        scene = scene_of(_known(model), result, signals, compared)
        data = json.dumps(scene, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        # a "<" in a name would end the script; as an escape it is the same text for JSON
        parts = {"title": html.escape(scene["title"]), "data": data.replace("<", "\\u003c")}
        return re.sub(r"{{(\w+)}}", lambda match: parts[match[1]], TEMPLATE.read_text("utf-8"))


def _known(model: cosim.Model | None) -> cosim.Model:
    if model is None:
        raise cosim.CosimError(
            "the result does not know its model: write result.animate(model=model), or animate the "
            "result of model.simulate()"
        )
    return model


class ShownPage:
    """A page that notebooks show in a frame of their own."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_html_(self) -> str:
        shown = html.escape(self.text, quote=True)
        return f'<iframe srcdoc="{shown}" style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
