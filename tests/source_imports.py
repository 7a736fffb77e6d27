"""The packages of the product and what their modules import, read from the sources."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = {
    path.name: path
    for path in [
        ROOT / "cosim",
        *(p for f in ("compiler", "plugins", "fmu") for p in ROOT.glob(f"{f}/cosim_*")),
    ]
}

PUBLIC = {
    "cosim_mechanics.spatial",
    "cosim_mechanics.contracts",
    "cosim_animation.meshes",
    "cosim_ensembles.kit",
    "cosim_fmu.abilities",
    "cosim_integrators.kit",
    "cosim_lowering",
    "cosim_measures.histories",
    "cosim_measures.sampled",
    "cosim_measures.piecewise_constant",
    "cosim_signals.curves",
    "cosim_signals.series",
    "cosim_toml",
    "cosim_workbench.agreement",
    "cosim_workbench.arguments",
    "cosim_workbench.contracts",
    "cosim_workbench.reports",
    "cosim_workbench.trial_options",
}
"""The modules of plugins that others may import."""


@dataclass(frozen=True)
class Import:
    """An import statement."""

    file: str
    line: int
    module: str
    names: tuple[str, ...]
    inside: bool
    """Whether it is in a function or for type checkers alone."""

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.module} {', '.join(self.names)}"


@functools.cache
def syntax(source: str) -> list[ast.AST]:
    """The nodes of a source; cached, since many tests read all files."""
    return list(ast.walk(ast.parse(source)))


@functools.cache
def imports_of(source: str, file: str) -> list[Import]:
    """The imports of a source."""
    imports, nodes = [], [(syntax(source)[0], False)]
    has_guard = "TYPE_CHECKING" in source
    while nodes:
        node, inside = nodes.pop()
        if isinstance(node, ast.Import):
            imports += [Import(file, node.lineno, alias.name, (), inside) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: relative import"
            names = tuple(alias.name for alias in node.names)
            imports.append(Import(file, node.lineno, node.module or "", names, inside))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
            has_guard and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        ):
            inside = True
        # expressions contain no imports
        nodes += [(part, inside) for part in ast.iter_child_nodes(node) if not isinstance(part, ast.expr)]
    return imports


@functools.cache
def sources(package: str) -> dict[str, str]:
    """The sources of a package, by their paths."""
    files = {str(p.relative_to(ROOT)): p.read_text("utf-8") for p in sorted(PACKAGES[package].rglob("*.py"))}
    assert files, f"no sources of {package}"
    return files


def module_of(file: str) -> str:
    """The name of the module of a file."""
    path = re.sub("^(compiler|plugins|fmu)/", "", file).removesuffix(".py").removesuffix("/__init__")
    return path.replace("/", ".")


def import_graph(packages: list[str], everywhere: bool) -> dict[str, set[str]]:
    """The modules of these packages that each module imports; `everywhere`: in functions, too."""
    files = {module_of(file): (file, source) for p in packages for file, source in sources(p).items()}
    graph: dict[str, set[str]] = {}
    for module, (file, source) in files.items():
        imports = [i for i in imports_of(source, file) if everywhere or not i.inside]
        imported = {f"{i.module}.{name}" if f"{i.module}.{name}" in files else i.module for i in imports
                 for name in i.names or ("",)}  # fmt: skip
        graph[module] = {name for name in imported if name in files and name != module}
    return graph
