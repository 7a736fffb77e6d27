"""Which packages a module may import, and what it may read of them; the number of arguments of functions."""

from __future__ import annotations

import ast
import re
import sys

import pytest
from source_imports import PACKAGES, PUBLIC, ROOT, Import, imports_of, sources, syntax

COMPILER = {"numpy"}
KERNEL = {"numpy", "pluggy", "cosim_compiler"}
PLUGIN = {"numpy", "scipy"}
"""What the modules of a layer may import beside the standard library."""
OWN_LIBRARIES = {  # what a package may import inside functions
    "cosim_integrators": {"sksundae"},
    "cosim_workbench": {"distributed", "rich", "matplotlib", "pandas", "pyarrow", "xarray"},
    "cosim_lowering": {"llvmlite"},
    "cosim_fmi": {"fmpy", "lxml"},
    "cosim_master": {"fmpy"},
    "cosim_export": {"fmpy", "llvmlite", "lxml", "pythonfmu"},
    "cosim_ssp": {"fmpy", "lxml"},
    "cosim_fmu": {"fmpy", "lxml"},
    "cosim_robots": {"lxml"},
    "cosim_animation": {"trimesh", "pygltflib"},
}
FMU_PACKAGES = ("cosim_fmi", "cosim_master", "cosim_export", "cosim_ssp", "cosim_fmu")
"""The lowest one first; each imports any module of those before it, except the exports and the master, which
do not use each other."""
MODULE_OF_LLVM = "compiler/cosim_compiler/machine.py"


def faults(package: str, files: dict[str, str]) -> list[str]:
    """The imports in the files of a package that the rules forbid."""
    return [
        str(statement)
        for file, source in files.items()
        for statement in imports_of(source, file)
        if not is_allowed(package, file, statement)
    ]


def is_allowed(package: str, file: str, statement: Import) -> bool:
    """Whether a file of a package may have an import."""
    top = statement.top
    if top in sys.stdlib_module_names:
        return True
    if top in {"pytest", "hypothesis"} or f"{statement.module}.".startswith("cosim.testing."):
        return "/testing/" in file
    if package == "cosim":
        if file.startswith("cosim/testing/"):
            return top in KERNEL | {"cosim"}
        if top == "cosim":
            return not statement.module.startswith("cosim.testing")
        return top in KERNEL
    if package == "cosim_compiler":
        if statement.inside and file == MODULE_OF_LLVM and top == "llvmlite":
            return True
        return top in COMPILER | {"cosim_compiler"}
    if top == "cosim":
        return statement.module in {"cosim", "cosim.kit"}
    if top == package:
        return "/testing/" in file or not f"{statement.module}.".startswith(f"{package}.testing.")
    if package in FMU_PACKAGES and top in FMU_PACKAGES[: FMU_PACKAGES.index(package)]:
        return {package, top} != {"cosim_master", "cosim_export"}
    if top in PACKAGES:
        modules = [f"{statement.module}.{name}" for name in statement.names] or [statement.module]
        return all(any(f"{name}.".startswith(f"{public}.") for public in PUBLIC) for name in modules)
    return top in PLUGIN or (statement.inside and top in OWN_LIBRARIES.get(package, set()))


def test_the_packages_of_the_product() -> None:
    parts = (
        "mechanics",
        "dynamics",
        "measures",
        "integrators",
        "ensembles",
        "robots",
        "animation",
        "signals",
        "toml",
        "workbench",
        "lowering",
        "fmi",
        "master",
        "export",
        "ssp",
        "fmu",
        "compiler",
    )
    assert set(PACKAGES) == {"cosim", *(f"cosim_{part}" for part in parts)}


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_package_imports_only_what_it_may(package: str) -> None:
    assert faults(package, sources(package)) == []


@pytest.mark.parametrize(
    ("package", "file", "source"),
    [
        ("cosim", "cosim/x.py", "import scipy"),
        ("cosim", "cosim/x.py", "import cosim_mechanics"),
        ("cosim", "cosim/x.py", "def f():\n    import cosim_mechanics"),
        ("cosim", "cosim/x.py", "def f():\n    import llvmlite"),
        ("cosim_compiler", "compiler/cosim_compiler/x.py", "import cosim"),
        (
            "cosim_compiler",
            "compiler/cosim_compiler/x.py",
            "def f():\n    import cosim.errors",
        ),
        ("cosim_compiler", "compiler/cosim_compiler/x.py", "import scipy"),
        ("cosim_compiler", "compiler/cosim_compiler/machine.py", "import llvmlite"),
        ("cosim_compiler", "compiler/cosim_compiler/machine.py", "def f():\n    import scipy"),
        ("cosim_compiler", "compiler/cosim_compiler/units.py", "def f():\n    import llvmlite"),
        ("cosim_measures", "plugins/cosim_measures/x.py", "from cosim_compiler.native import is_plain"),
        ("cosim", "cosim/x.py", "from cosim.testing import ForceElementContract"),
        ("cosim_measures", "plugins/cosim_measures/x.py", "from cosim.errors import ModelError"),
        ("cosim_measures", "plugins/cosim_measures/x.py", "from cosim_mechanics.direction import unit"),
        ("cosim_measures", "plugins/cosim_measures/x.py", "import cosim_integrators"),
        ("cosim_dynamics", "plugins/cosim_dynamics/x.py", "from cosim_mechanics.pin import Pin"),
        ("cosim_workbench", "plugins/cosim_workbench/x.py", "import rich"),
        ("cosim_master", "fmu/cosim_master/run/x.py", "from cosim_export.interface import names"),
        ("cosim_export", "fmu/cosim_export/native/x.py", "from cosim_master.coupling import connection"),
        ("cosim_master", "fmu/cosim_master/run/x.py", "from cosim_ssp import couple_ssp"),
        ("cosim_ssp", "fmu/cosim_ssp/x.py", "from cosim_fmu import CoSimulation"),
        ("cosim_workbench", "plugins/cosim_workbench/x.py", "from cosim_fmi.fmu_archive import FmuArchive"),
        ("cosim_fmu", "fmu/cosim_fmu/x.py", "import fmpy"),
        ("cosim_mechanics", "plugins/cosim_mechanics/x.py", "from cosim_mechanics.testing import y"),
        ("cosim_mechanics", "plugins/cosim_mechanics/x.py", "import pytest"),
    ],
)
def test_a_forbidden_import_is_noticed(package: str, file: str, source: str) -> None:
    assert len(faults(package, {file: source})) == 1


def private_names(package: str) -> tuple[set[str], dict[str, str]]:
    """The private names that a package defines, and the places where it reads private attributes, by name."""
    defined, read = set(), {}
    for file, source in sources(package).items():
        for node in syntax(source):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                defined.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                defined.add(node.attr)
            elif isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                read[node.attr] = f"{file}:{node.lineno}: {node.attr}"
    return {name for name in defined if name.startswith("_") and not name.endswith("__")}, read


def test_no_package_reads_private_attributes_of_another_one() -> None:
    names = {package: private_names(package) for package in PACKAGES}
    wrong = []
    for package, (own, read) in names.items():
        foreign = set().union(*(defined for other, (defined, _) in names.items() if other != package))
        wrong += [where for name, where in read.items() if name in foreign - own]
    assert wrong == []


MOST_ARGUMENTS = 12
CALLED_BY_USERS = {"cosim/simulation/simulate.py: simulate"}
"""Functions that users call; each argument but the first has a default."""


def functions_with_many_arguments(file: str, source: str) -> list[str]:
    """The functions of a source with more than `MOST_ARGUMENTS` arguments."""
    functions = (node for node in syntax(source) if isinstance(node, ast.FunctionDef))
    return [
        f"{file}: {node.name}"
        for node in functions
        if len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]) > MOST_ARGUMENTS
    ]


def test_the_bound_of_arguments_is_twelve() -> None:
    names = [f"a{i}" for i in range(13)]
    assert functions_with_many_arguments("f", f"def f({', '.join(names)}): ...") == ["f: f"]
    assert functions_with_many_arguments("f", f"def f({', '.join(names[:12])}): ...") == []
    assert functions_with_many_arguments("f", "def f(*arguments): ...") == []


@pytest.mark.parametrize(
    "package",
    ["cosim", "cosim_compiler", "cosim_dynamics", "cosim_integrators", "cosim_mechanics", "cosim_signals"],
)
def test_functions_have_twelve_arguments_at_most(package: str) -> None:
    names = [name for item in sources(package).items() for name in functions_with_many_arguments(*item)]
    assert set(names) <= CALLED_BY_USERS


def test_no_package_is_called_compiler_plugins_or_fmu() -> None:
    assert not [f for f in ("compiler", "plugins", "fmu") if (ROOT / f / "__init__.py").exists()]
    wrong = [
        str(found)
        for folder in ("cosim", "compiler", "plugins", "fmu", "tests", "examples", "benchmarks")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if ".peers" not in path.parts  # other programs, installed there by a benchmark
        if re.search(
            r"import.*\b(compiler|plugins|fmu)\b|\b(compiler|plugins|fmu)\b.*import",
            text := path.read_text("utf-8"),
        )
        for found in imports_of(text, str(path.relative_to(ROOT)))
        if found.top in {"compiler", "plugins", "fmu"}
    ]
    assert wrong == []
