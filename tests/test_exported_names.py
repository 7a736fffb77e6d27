"""The names that packages export: plugins use no others, they exist, and `help()` shows them."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pydoc
import re
from types import ModuleType

import pytest
from source_imports import PACKAGES, PUBLIC, ROOT, sources, syntax

import cosim
import cosim.kit


def exported(module: str) -> set[str]:
    """The names that `cosim/__init__.py` or `cosim/kit.py` binds, without submodules."""
    source = (ROOT / "cosim" / module).read_text("utf-8")
    nodes = ast.parse(source).body
    nodes += [node for branch in nodes if isinstance(branch, ast.If) for node in branch.body]
    names = {a.asname or a.name for node in nodes if isinstance(node, ast.ImportFrom) for a in node.names}
    names |= {ast.unparse(node.targets[0]) for node in nodes if isinstance(node, ast.Assign)}
    return names - {"TYPE_CHECKING"}


@pytest.mark.parametrize("package", sorted(set(PACKAGES) - {"cosim", "cosim_compiler"}))
def test_plugins_use_only_what_cosim_exports(package: str) -> None:
    public = exported("__init__.py") | {"kit"}
    public_in_kit = exported("kit.py")
    used, used_of_kit = {}, {}
    for file, source in sources(package).items():
        for node in syntax(source):
            if isinstance(node, ast.ImportFrom) and node.module == "cosim.kit":
                used_of_kit.update(
                    {alias.name: f"{file}:{node.lineno}: {alias.name}" for alias in node.names}
                )
            elif isinstance(node, ast.ImportFrom) and node.module == "cosim":
                used.update({alias.name: f"{file}:{node.lineno}: {alias.name}" for alias in node.names})
            elif (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "cosim"
            ):
                used[node.attr] = f"{file}:{node.lineno}: {node.attr}"
    assert used, f"{package} uses nothing of cosim"
    assert [where for name, where in used.items() if name not in public] == []
    assert [where for name, where in used_of_kit.items() if name not in public_in_kit] == []


def test_everything_that_cosim_exports_exists() -> None:
    assert [name for name in exported("__init__.py") if not hasattr(cosim, name)] == []
    assert [name for name in exported("kit.py") if not hasattr(cosim.kit, name)] == []
    assert exported("__init__.py") & exported("kit.py") == set()
    assert not isinstance(cosim.registry, ModuleType), "the submodule hides the function"


def test_cosim_exports_fewer_than_70_names() -> None:
    assert len(exported("__init__.py")) < 70


def file_of(package: str) -> str | None:
    """The file of a module or package."""
    spec = importlib.util.find_spec(package)
    return spec.origin if spec is not None else None


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "package",
    sorted(
        {"cosim", "cosim.kit", "cosim_mechanics", *(p for p in PUBLIC if "__init__" in (file_of(p) or ""))}
        - {"cosim_lowering"}  # all of its modules are public
    ),
)
def test_help_shows_what_a_package_exports(package: str) -> None:
    """`help()` lists the names of ``__all__``, which must be all that the package exports."""
    module = importlib.import_module(package)
    exported = re.findall(r"import (\w+) as \1\b|^ +(\w+) as \2,", inspect.getsource(module), re.MULTILINE)
    names = {on_one_line or in_a_list for on_one_line, in_a_list in exported} - {"__version__"}
    classes = [name for name in names if not inspect.ismodule(getattr(module, name))]
    assert names and set(module.__all__) - {"__version__"} == names
    listed = pydoc.plain(pydoc.render_doc(module))
    assert [name for name in classes if not re.search(rf"\b{name}\b", listed)] == []
