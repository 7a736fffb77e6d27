"""A distribution of this repository's examples as an installer would leave it, without an installer."""

from __future__ import annotations

import shutil
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path

import cosim


def install(project: Path, site: Path) -> Distribution:
    """Copy a project's modules into a folder, with the metadata of its ``pyproject.toml`` beside them.

    Parameters
    ----------
    project : Path
        Folder of a ``pyproject.toml`` with static metadata.
    site : Path
        The folder; it belongs into ``sys.path``.

    Returns
    -------
    importlib.metadata.Distribution
        With its entry points.
    """
    about = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    name, version = about["name"], about["version"]
    module = name.replace("-", "_")
    site.mkdir(parents=True, exist_ok=True)
    if (project / module).is_dir():
        shutil.copytree(project / module, site / module, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(project / f"{module}.py", site)
    info = site / f"{module}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    points = [f"{key} = {value}" for key, value in about["entry-points"]["cosim"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[cosim]", *points, ""]), "utf-8")
    files = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*")) if path.is_file()]
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files), "utf-8")
    (found,) = distributions(path=[str(site)], name=name)
    return found


def registry_with(distribution: Distribution) -> cosim.Registry:
    """What is installed, and this distribution in place of one of the same name."""
    name = distribution.name
    others = [d for d in distributions() if d.name != name]
    points = {(p.name, p.value): p for d in [*others, distribution] for p in d.entry_points}
    return cosim.Registry.discover([p for p in points.values() if p.group == "cosim"])
