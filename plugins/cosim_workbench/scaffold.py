"""The files of a new package, model or scenario, from templates."""

from __future__ import annotations

import importlib.util
import keyword
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import cosim
from cosim.kit import declared_kinds
from cosim_workbench.contracts import ContractKit
from cosim_workbench.optional_library import import_optional

TEMPLATES = Path(__file__).parent / "templates"
FILES = ("model", "scenario")
NAME = re.compile(r"[a-z][a-z0-9_]*")


class NewFiles(NamedTuple):
    """The files that are to be written.

    Attributes
    ----------
    folder : Path
        The folder of the project.
    files : dict of Path to str
        The texts by the path in this folder; of existing files only ``plugin.py`` is replaced.
    id : str
        The id under which a class will be registered; empty for a model or scenario.
    """

    folder: Path
    files: dict[Path, str]
    id: str = ""


def kits_of_kinds() -> dict[str, str]:
    """The kit of each kind that has one: ``module:Class``, by the name of the kind."""
    loaded_kinds: set[str] = set()
    for plugin in cosim.registry().plugins:
        for entry in plugin.entries:
            if not loaded_kinds.issuperset(entry.kinds):
                loaded_kinds.update(entry.kinds)
                _ = entry.cls  # the import declares the base class of its kind
    kits = {name: getattr(base, "contract_kit", "") for name, base in declared_kinds().items()}
    kits |= registered_kits()
    return {name: kit for name, kit in sorted(kits.items()) if kit}


def registered_kits() -> dict[str, str]:
    """The contract kits that lie in another package than the base class of their kind."""
    kits: list[type[ContractKit]] = [entry.cls for entry in cosim.registry().entries("contract_kit")]
    return {kit.kind: kit.kit for kit in kits}


def kinds_with_template() -> dict[str, str]:
    """The kits of those kinds that ``cosim new`` can make; `CosimError` where their libraries are missing."""
    for name in ("pytest", "hypothesis"):
        import_optional(name, "a new package", "testing")
    return {name: kit for name, kit in kits_of_kinds().items() if template_of(name, kit).exists()}


def distribution_of(plugin: str) -> str:
    """Name of the package that brings a plugin.

    >>> distribution_of("soft_parts")
    'cosim-soft-parts'
    """
    return f"cosim-{plugin.replace('_', '-')}"


def template_of(kind: str, kit: str) -> Path:
    """The template of a kind, which lies beside its kit."""
    module = importlib.util.find_spec(kit.partition(":")[0])
    return Path(str(module.origin if module else "")).parent / "templates" / f"{kind}.txt"


def new_files(kind: str, name: str, where: Path) -> NewFiles:
    """The files of ``cosim new KIND NAME``.

    Raises
    ------
    LookUpError
        No such kind.
    ModelError
        The name is not valid, or a file exists already.
    """
    kits = {} if kind in FILES else kinds_with_template()
    if kind not in (*kits, *FILES):
        raise cosim.LookUpError("template for the kind", kind, [*kits, *FILES])
    plugin, _, short_name = name.rpartition(".")
    for part in filter(None, (plugin, short_name or " ")):  # a name without letters is refused as " "
        if not NAME.fullmatch(part) or keyword.iskeyword(part):
            example = "mount" if kind in FILES else "acme.soft_damper"
            text = f"'{name}' is not a name: use small letters, digits and underscores, such as {example}"
            raise cosim.ModelError.of("", text)
    if kind in FILES:
        return _of_file(kind, short_name, where)
    return _of_class(kind, kits[kind], plugin or short_name, short_name, where)


def _of_file(kind: str, name: str, where: Path) -> NewFiles:
    """The files of a new model or scenario, with a test."""
    run = "run" if kind == "model" else "cosimulate"
    values = {
        "name": name,
        "kind": kind,
        "id": name,
        "usage": f"    cosim {run} {name}.toml --plot {name}.svg\n    pytest",
    }
    files = {
        Path("README.md"): _filled("README", values),
        Path(f"{name}.toml"): _filled(kind, values),
        Path("tests") / f"test_{name}.py": _filled(f"test_{kind}", values),
    }
    if kind == "scenario":
        files |= {Path(f"{n}.toml"): _filled(f"scenario_{n}", values) for n in ("drive", "plant")}
    return _checked(NewFiles(where / name, files))


def _of_class(kind: str, kit: str, plugin: str, name: str, where: Path) -> NewFiles:
    """The files of a new class, with a test; where its plugin exists the class is added to that."""
    template = template_of(kind, kit).read_text("utf-8")
    first, _, source = template.partition("\n")
    class_name = "".join(word.capitalize() for word in name.split("_"))
    values = {
        "name": distribution_of(plugin),
        "kind": kind,
        "id": f"{plugin}.{name}",
        "plugin": plugin,
        "dashed": plugin.replace("_", "-"),
        "module": name,
        "Class": class_name,
        "Title": name.replace("_", " ").capitalize(),
        "words": kind.replace("_", " "),
        "kit_module": kit.partition(":")[0].rpartition(".")[0],
        "Kit": kit.partition(":")[2],
        "usage": "    pip install -e .\n    cosim plugins\n    cosim check " + plugin + "\n    pytest",
    }
    call = first.removeprefix("# make: ").replace("{Class}", class_name)
    values["make"] = f"lambda: {call}" if "(" in call else f"lambda **options: {call}(**options)"
    package, folder = Path(f"cosim_{plugin}"), where / plugin
    plugin_file = folder / package / "plugin.py"
    plugin_text = plugin_file.read_text("utf-8") if plugin_file.exists() else _filled("plugin", values)
    files = {
        package / f"{name}.py": _replaced(source, values),
        Path("tests") / f"test_{name}.py": _filled("test_component", values),
    }
    if not plugin_file.exists():
        files |= {
            Path("pyproject.toml"): _filled("pyproject", values),
            Path("README.md"): _filled("README", values),
            package / "__init__.py": f'"""Components for cosim, under `{plugin}.`"""\n',
        }
    _checked(NewFiles(folder, files))
    register = f'    register("{plugin}.{name}", {class_name})\n'
    imported = f"import cosim\nfrom cosim_{plugin}.{name} import {class_name}\n"
    files[package / "plugin.py"] = (
        plugin_text.replace("import cosim\n", imported, 1).rstrip() + "\n" + register
    )
    return NewFiles(folder, files, f"{plugin}.{name}")


def _checked(new: NewFiles) -> NewFiles:
    """The new files; `ModelError` if one of them exists: nothing is replaced."""
    existing = [str(new.folder / path) for path in new.files if (new.folder / path).exists()]
    if existing:
        raise cosim.ModelError.of(
            "", f"{', '.join(existing)}: there already; choose another name, or remove it"
        )
    return new


def _filled(template: str, values: Mapping[str, Any]) -> str:
    """A template of this package with the values in place of their names."""
    return _replaced((TEMPLATES / f"{template}.txt").read_text("utf-8"), values)


def _replaced(text: str, values: Mapping[str, Any]) -> str:
    """A text with the values in place of their names in braces; doubled braces stand for themselves."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text.replace("{{", "{").replace("}}", "}")
