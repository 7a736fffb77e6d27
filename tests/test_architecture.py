"""Who imports what, read from the source; and what a bare `import cosim` loads."""

import ast
import functools
import importlib.util
import inspect
import pydoc
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

import cosim
import cosim.kit

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
"""What a plugin lets others import."""
LAYERS = (
    (
        *("cosim.version", "cosim.stage", "cosim.cause", "cosim.unit", "cosim.name_patterns"),
        *("cosim.html_table", "cosim.walker", "cosim.recorded_walk", "cosim.rational", "cosim.value_text"),
        "cosim.rational_doubles",
        *("cosim.functions", "cosim.resource_limits", "cosim.process_lock", "cosim.private_folder"),
        *("cosim.last_result_cache", "cosim.call_faults", "cosim.option_synonyms"),
    ),
    ("cosim.errors", "cosim.misspelled_functions"),
    ("cosim.attributes",),
    ("cosim.unit_symbols", "cosim.unit_expressions", "cosim.unit_spellings", "cosim.units"),
    ("cosim.options", "cosim.argument_checks"),
    ("cosim.unit_text",),
    ("cosim.registration",),
    ("cosim.component",),
    ("cosim.contracts",),
    ("cosim.run_data",),
    ("cosim.system",),
    ("cosim.step",),
    ("cosim.derivatives",),
    ("cosim.preparation",),
    ("cosim.simulation",),
    ("cosim.model",),
    ("cosim.command_line",),
    ("cosim.cli", "cosim.kit"),
    ("cosim", "cosim.__main__"),
    ("cosim.testing",),
)
"""The kernel from below to above: a module imports from its own layer and from those before it."""
COMPILER_LAYERS = (
    tuple(
        f"cosim_compiler.{name}"
        for name in (
            *("errors", "nearest", "debugging", "helper_process", "child_process", "kernel_cache", "shipped"),
            *(
                "calls",
                "convention",
                "road",
                "sine_pairs",
                "kept_loops",
                "object_loader",
                "machine",
                "c_machine",
                "held_interrupts",
            ),
        )
    ),
    tuple(
        f"cosim_compiler.{name}"
        for name in ("foreign", "tables", "functions", "checked_view", "collection", "callback", "record")
    ),
    tuple(
        f"cosim_compiler.{name}"
        for name in (
            *("names_in_reach", "names_at_rest"),
            *("digest_pieces", "code_digest", "value_digest", "fingerprint"),
        )
    ),
    ("cosim_compiler.sources",),
    ("cosim_compiler.language",),
    ("cosim_compiler.printers",),
    ("cosim_compiler.code",),
    ("cosim_compiler.unit_digests",),
    ("cosim_compiler.units",),
    ("cosim_compiler.called",),
    ("cosim_compiler",),
)
"""The same of the package below the kernel."""
COMPILER = {"numpy"}
KERNEL = {"numpy", "pluggy", "cosim_compiler"}
PLUGIN = {"numpy", "scipy"}
OWN_LIBRARIES = {
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
"""From below to above: one imports any module of those before it, but the exports and the master use each
other nowhere."""
TOUCHES_LLVM = "compiler/cosim_compiler/machine.py"
HEAVY = {
    "llvmlite",
    "scipy",
    "fmpy",
    "lxml",
    "pythonfmu",
    "rich",
    "matplotlib",
    "pandas",
    "pyarrow",
    "xarray",
    "distributed",
    "trimesh",
    "pygltflib",
    "pytest",
    "hypothesis",
}


@dataclass(frozen=True)
class Import:
    file: str
    line: int
    module: str
    names: tuple[str, ...]
    inside: bool
    """In a function, or for type checkers alone."""

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.module} {', '.join(self.names)}"


@functools.cache
def syntax(source: str) -> list[ast.AST]:
    """The nodes of a file, which many tests read: parsed once."""
    return list(ast.walk(ast.parse(source)))


@functools.cache
def imports_of(source: str, file: str) -> list[Import]:
    found, left = [], [(syntax(source)[0], False)]
    has_guard = "TYPE_CHECKING" in source
    while left:
        node, inside = left.pop()
        if isinstance(node, ast.Import):
            found += [Import(file, node.lineno, alias.name, (), inside) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: relative import"
            names = tuple(alias.name for alias in node.names)
            found.append(Import(file, node.lineno, node.module or "", names, inside))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
            has_guard and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        ):
            inside = True
        # Expressions hold none: they are not looked at.
        left += [(part, inside) for part in ast.iter_child_nodes(node) if not isinstance(part, ast.expr)]
    return found


@functools.cache
def sources(package: str) -> dict[str, str]:
    found = {str(p.relative_to(ROOT)): p.read_text("utf-8") for p in sorted(PACKAGES[package].rglob("*.py"))}
    assert found, f"no sources of {package}"
    return found


def faults(package: str, files: dict[str, str]) -> list[str]:
    """What the import rules forbid in the files of a package."""
    wrong = []
    for file, source in files.items():
        for found in imports_of(source, file):
            if not _allowed(package, file, found):
                wrong.append(str(found))
    return wrong


def _allowed(package: str, file: str, found: Import) -> bool:
    top = found.top
    if top in sys.stdlib_module_names:
        return True
    if top in {"pytest", "hypothesis"} or f"{found.module}.".startswith("cosim.testing."):
        return "/testing/" in file
    if package == "cosim":
        if file.startswith("cosim/testing/"):
            return top in KERNEL | {"cosim"}
        if top == "cosim":
            return not found.module.startswith("cosim.testing")
        return top in KERNEL
    if package == "cosim_compiler":
        if found.inside and file == TOUCHES_LLVM and top == "llvmlite":
            return True
        return top in COMPILER | {"cosim_compiler"}
    if top == "cosim":
        return found.module in {"cosim", "cosim.kit"}
    if top == package:
        return "/testing/" in file or not f"{found.module}.".startswith(f"{package}.testing.")
    if package in FMU_PACKAGES and top in FMU_PACKAGES[: FMU_PACKAGES.index(package)]:
        return {package, top} != {"cosim_master", "cosim_export"}
    if top in PACKAGES:
        meant = [f"{found.module}.{name}" for name in found.names] or [found.module]
        return all(any(f"{name}.".startswith(f"{public}.") for public in PUBLIC) for name in meant)
    return top in PLUGIN or (found.inside and top in OWN_LIBRARIES.get(package, set()))


def test_these_packages_exist() -> None:
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
def test_import_directions(package: str) -> None:
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
def test_the_check_finds_what_is_forbidden(package: str, file: str, source: str) -> None:
    assert len(faults(package, {file: source})) == 1


def module_of(file: str) -> str:
    path = re.sub("^(compiler|plugins|fmu)/", "", file).removesuffix(".py").removesuffix("/__init__")
    return path.replace("/", ".")


def arrows(packages: list[str], everywhere: bool) -> dict[str, set[str]]:
    """What each module imports of these packages; `everywhere`: in functions and for type checkers, too."""
    files = {module_of(file): (file, source) for p in packages for file, source in sources(p).items()}
    found: dict[str, set[str]] = {}
    for module, (file, source) in files.items():
        seen = [i for i in imports_of(source, file) if everywhere or not i.inside]
        meant = {f"{i.module}.{name}" if f"{i.module}.{name}" in files else i.module for i in seen
                 for name in i.names or ("",)}  # fmt: skip
        found[module] = {name for name in meant if name in files and name != module}
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules each of which reaches all others of its group (Tarjan)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in order:
                visit(other)
            if other in stack:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == order[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1:
                found.append(sorted(group))

    for module in graph:
        if module not in order:
            visit(module)
    return found


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


def test_kernel_and_compiler_have_no_import_circle() -> None:
    """Neither when they are loaded, nor by imports in functions or for type checkers."""
    graph = arrows(["cosim", "cosim_compiler"], everywhere=True)
    assert len(graph) > 100
    assert circles({m: found - {"cosim"} for m, found in graph.items()}) == []


def test_nothing_needs_a_circle_to_be_loaded() -> None:
    """The whole product; a package as a whole stands for its modules only where it says what is public."""
    packages = sorted(PACKAGES)
    graph = arrows(packages, everywhere=False)
    assert circles({m: found - set(packages) for m, found in graph.items()}) == []


def room_of(module: str, folders: set[str]) -> str:
    """The folder that a module lies in; a module beside folders is a room of its own.

    So is what a folder exports: it may show what lies in others, and modules inside do not use it.
    """
    package, _, inner = module.partition(".")
    above = module.rpartition(".")[0]
    if module in folders and inner:
        return f"{module}.__init__"
    return above if "." in above or not any(f.startswith(f"{package}.") for f in folders) else module


def rooms(packages: list[str]) -> dict[str, set[str]]:
    """Which folder uses which, imports in functions and for type checkers included."""
    files = [file for package in packages for file in sources(package)]
    folders = {module_of(file) for file in files if file.endswith("/__init__.py")}
    found: dict[str, set[str]] = {}
    for module, imported in arrows(packages, everywhere=True).items():
        here = room_of(module, folders)
        mine = found.setdefault(here, set())
        mine |= {room_of(other, folders) for other in imported - set(packages)} - {here}
    return found


def test_rooms_have_no_circle() -> None:
    """A folder is understood with those below it."""
    graph = rooms(sorted(PACKAGES))
    assert {"cosim_master.exchange", "cosim_master.coupling", "cosim.step", "cosim_ssp"} <= set(graph)
    assert "cosim_master.coupling" in graph["cosim_master.exchange"]
    assert circles(graph) == []


def layer_of(module: str) -> int:
    fitting = [(len(name), i) for i, names in enumerate((*COMPILER_LAYERS, *LAYERS)) for name in names
               if module == name or (name != "cosim" and module.startswith(f"{name}."))]  # fmt: skip
    assert fitting, f"{module} is in no layer"
    return max(fitting)[1]


def test_no_arrow_goes_up() -> None:
    graph = arrows(["cosim", "cosim_compiler"], everywhere=True)
    wrong = [
        f"{module} imports {other}"
        for module, found in sorted(graph.items())
        for other in sorted(found)
        if layer_of(other) > layer_of(module)
    ]
    assert wrong == []


def private_names(package: str) -> tuple[set[str], dict[str, str]]:
    """What a package defines under names with an underscore, and what it reads of objects."""
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


def test_nobody_reads_private_attributes_of_another_package() -> None:
    names = {package: private_names(package) for package in PACKAGES}
    wrong = []
    for package, (own, read) in names.items():
        foreign = set().union(*(defined for other, (defined, _) in names.items() if other != package))
        wrong += [where for name, where in read.items() if name in foreign - own]
    assert wrong == []


MOST_ARGUMENTS = 12
WRITTEN_BY_KEYWORD = {"cosim/simulation/simulate.py: simulate"}
"""What users write; each argument but the first has a default."""


def functions_with_many_arguments(file: str, source: str) -> list[str]:
    """Functions that name more arguments than a reader keeps apart."""
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
    found = [name for item in sources(package).items() for name in functions_with_many_arguments(*item)]
    assert set(found) <= WRITTEN_BY_KEYWORD


def test_what_users_and_authors_write_is_little() -> None:
    assert len(exported("__init__.py")) < 70


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


def exported(module: str) -> set[str]:
    """What `cosim/__init__.py` or `kit.py` bind as a public name; a submodule that is loaded is none."""
    source = (ROOT / "cosim" / module).read_text("utf-8")
    found = ast.parse(source).body
    found += [node for branch in found if isinstance(branch, ast.If) for node in branch.body]
    names = {a.asname or a.name for node in found if isinstance(node, ast.ImportFrom) for a in node.names}
    names |= {ast.unparse(node.targets[0]) for node in found if isinstance(node, ast.Assign)}
    return names - {"TYPE_CHECKING"}


@pytest.mark.parametrize("package", sorted(set(PACKAGES) - {"cosim", "cosim_compiler"}))
def test_plugins_use_only_what_cosim_exports(package: str) -> None:
    public = exported("__init__.py") | {"kit"}
    for_builders = exported("kit.py")
    used, built = {}, {}
    for file, source in sources(package).items():
        for node in syntax(source):
            if isinstance(node, ast.ImportFrom) and node.module == "cosim.kit":
                built.update({alias.name: f"{file}:{node.lineno}: {alias.name}" for alias in node.names})
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
    assert [where for name, where in built.items() if name not in for_builders] == []


def test_everything_that_cosim_exports_is_there() -> None:
    assert [name for name in exported("__init__.py") if not hasattr(cosim, name)] == []
    assert [name for name in exported("kit.py") if not hasattr(cosim.kit, name)] == []
    assert exported("__init__.py") & exported("kit.py") == set()
    assert not isinstance(cosim.registry, ModuleType), "the submodule hides the function"


@pytest.mark.parametrize("statement", ["import cosim", "import cosim.cli", "from cosim import *"])
def test_importing_cosim_is_light(statement: str) -> None:
    code = f"{statement}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "cosim" in loaded
    assert loaded & HEAVY == set()
    assert {name for name in loaded if name.startswith("cosim_")} <= {"cosim_compiler"}


def test_a_process_for_an_fmu_loads_no_registry() -> None:
    """It begins sooner, for each FMU of a run that is in a process of its own."""
    modules = ["processes.process_worker", "participants.create_participants", "participants.fmu_participant"]
    imports = "; ".join(f"import cosim_master.{name}" for name in modules)
    code = f"{imports}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "cosim_fmi.binding.fmu_instance" in loaded
    assert not {"cosim.registration.registry", "cosim_fmu.co_simulation"} & loaded


def test_who_exports_a_model_loads_no_co_simulation(tmp_path: Path) -> None:
    """Exporters of scenarios are asked whether a file is theirs, and what writes C or Python comes later."""
    (tmp_path / "m.toml").write_text('[model]\nname = "m"\n', "utf-8")
    code = (
        "import sys, pathlib, cosim\n"
        "exporters = [entry.cls for entry in cosim.registry().entries('file_exporter')]\n"
        "assert exporters and not any(each.reads(pathlib.Path('m.toml')) for each in exporters)\n"
        "import cosim_export.native.native_exporter\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    loaded = set(done.stdout.split())
    assert "cosim_lowering.machine_code" in loaded
    late = {"cosim_master", "cosim_compiler.printers", "cosim_export.python_fmu", "llvmlite"}
    assert not late & loaded


def spec_of(package: str) -> str | None:
    """The file of a package."""
    spec = importlib.util.find_spec(package)
    return spec.origin if spec is not None else None


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "package",
    sorted(
        {"cosim", "cosim.kit", "cosim_mechanics", *(p for p in PUBLIC if "__init__" in (spec_of(p) or ""))}
        - {"cosim_lowering"}  # all of its modules are public
    ),
)
def test_help_shows_what_a_package_exports(package: str) -> None:
    """`help()` lists what is in ``__all__``, and of other packages what a package takes in not at all."""
    module = importlib.import_module(package)
    exported = re.findall(r"import (\w+) as \1\b|^ +(\w+) as \2,", inspect.getsource(module), re.MULTILINE)
    names = {first or second for first, second in exported} - {"__version__"}
    classes = [name for name in names if not inspect.ismodule(getattr(module, name))]
    assert names and set(module.__all__) - {"__version__"} == names
    listed = pydoc.plain(pydoc.render_doc(module))
    assert [name for name in classes if not re.search(rf"\b{name}\b", listed)] == []
