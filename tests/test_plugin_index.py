"""The index of installed plugins: a command that needs no plugin imports none."""

import hashlib
import importlib.util
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LAMP = '''
import cosim

class Lamp(cosim.Command):
    """Switch a lamp."""
    name = "lamp"
    summary = "{summary}"
    def configure(self, parser): pass
    def run(self, arguments): print("on"); return 0
'''
PLUGIN = """
import cosim
from acme_lamps.lamp import Lamp

@cosim.hookimpl
def cosim_register(register):
    register("lamps.lamp", Lamp)
"""


class Installation:
    """A folder in which a plugin is installed, and a cache folder."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "site" / "acme_lamps"
        self.package.mkdir(parents=True)
        (self.package / "__init__.py").write_text("")
        (self.package / "plugin.py").write_text(PLUGIN)
        self.write_lamp("switch a lamp")
        info = folder / "site" / "acme_lamps-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-lamps\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[cosim]\nlamps = acme_lamps.plugin\n")
        path = os.pathsep.join([str(folder / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.environment = {**os.environ, "PYTHONPATH": path, "COSIM_CACHE_DIR": str(folder / "cache")}
        self.environment["COSIM_PLUGINS"] = "lamps"

    def write_lamp(self, summary: str) -> None:
        (self.package / "lamp.py").write_text(LAMP.replace("{summary}", summary))

    def python(self, code: str) -> str:
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=True)
        assert not done.stderr
        return done.stdout

    def overview(self) -> tuple[str, bool]:
        """The output of ``cosim --help``, and whether the plugin was imported for it."""
        code = "import sys, cosim.cli as c; c.main(['--help']); print('acme_lamps.plugin' in sys.modules)"
        *lines, imported = self.python(code).splitlines()
        return "\n".join(lines), imported == "True"


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_a_plugin_is_imported_once_and_then_listed_from_the_index(installation: Installation) -> None:
    first, imported = installation.overview()
    assert imported and "lamp     switch" in first
    assert installation.overview() == (first, False)
    assert installation.python("import cosim.cli as c; c.main(['lamp'])") == "on\n"


def test_a_plugin_with_a_changed_file_is_imported_again(installation: Installation) -> None:
    installation.overview()
    installation.write_lamp("switch another lamp")
    text, imported = installation.overview()
    assert imported and "switch another lamp" in text
    (installation.package / "lamp.py").unlink()
    text, _ = installation.overview()
    assert "'lamps' (acme-lamps 1.0) did not load: ModuleNotFoundError" in text


def entry_points(installation: Installation) -> list[str]:
    """The installed entry points of third parties, and whether `importlib.metadata` was needed."""
    code = """
import sys
from cosim.registration.candidate import installed_candidates
candidates = [c for c in installed_candidates() if c.distribution.startswith("acme-")]
needed = "importlib.metadata" in sys.modules
print(*(f"{c.name}={c.load().__name__} {c.distribution}-{c.version}" for c in candidates), needed)
"""
    return installation.python(code).split()


def test_entry_points_are_read_again_only_if_a_distribution_has_changed(installation: Installation) -> None:
    """The last word of each answer is whether `importlib.metadata` was needed."""
    info = installation.package.parent / "acme_lamps-1.0.dist-info"
    lamps = ["lamps=acme_lamps.plugin", "acme-lamps-1.0"]
    assert entry_points(installation) == [*lamps, "True"]
    assert entry_points(installation) == [*lamps, "False"]
    (info / "entry_points.txt").write_text("[cosim]\nlights = acme_lamps.plugin\n")
    lights = ["lights=acme_lamps.plugin", "acme-lamps-1.0"]
    assert entry_points(installation) == [*lights, "True"]
    second = info.with_name("acme_other-2.0.dist-info")
    shutil.copytree(info, second)
    (second / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-other\nVersion: 2.0\n")
    other = ["lights=acme_lamps.plugin", "acme-other-2.0"]
    assert sorted(entry_points(installation)) == sorted([*lights, *other, "True"])
    assert sorted(entry_points(installation)) == sorted([*lights, *other, "False"])
    shutil.rmtree(second)
    assert entry_points(installation) == [*lights, "False"], "the set of distributions is a known one"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-lamps\nVersion: 1.25\n")
    assert entry_points(installation) == [lights[0], "acme-lamps-1.25", "True"]
    shutil.rmtree(info)
    assert entry_points(installation) == ["True"]


def test_distributions_in_archives_are_read_each_time(installation: Installation, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "site"), "zip", tmp_path / "site")
    installation.environment["PYTHONPATH"] = installation.environment["PYTHONPATH"].replace(
        str(tmp_path / "site"), archive
    )
    for _ in range(2):
        assert entry_points(installation) == ["lamps=acme_lamps.plugin", "acme-lamps-1.0", "True"]


@pytest.mark.thorough
def test_further_empty_folders_on_the_path_do_not_matter(installation: Installation, tmp_path: Path) -> None:
    first, _ = installation.overview()
    for name in ("before", "behind"):
        (tmp_path / name).mkdir()
    words = [str(tmp_path / "before"), installation.environment["PYTHONPATH"], str(tmp_path / "behind")]
    installation.environment["PYTHONPATH"] = os.pathsep.join(words)
    assert installation.overview() == (first, False)


@pytest.mark.few(1)
@pytest.mark.parametrize("package", ["acme_lamps", "acme_switches"])
def test_a_package_that_comes_first_on_the_path_replaces_another(
    installation: Installation, tmp_path: Path, package: str
) -> None:
    """The package of the plugin, and that of a base class."""
    derived = 'from acme_switches import Lamp as Base\nclass Lamp(Base):\n    """Switch a lamp."""\n'
    (installation.package / "lamp.py").write_text(derived)
    package_folder, shadowing_folder = tmp_path / "site" / "acme_switches", tmp_path / "other" / package
    package_folder.mkdir()
    (package_folder / "__init__.py").write_text(LAMP.replace("{summary}", "switch a lamp"))
    text, imported = installation.overview()
    assert imported and "switch a lamp" in text
    shutil.copytree(
        tmp_path / "site" / package, shadowing_folder, ignore=shutil.ignore_patterns("__pycache__")
    )
    file = shadowing_folder / ("lamp.py" if package == "acme_lamps" else "__init__.py")
    file.write_text(LAMP.replace("{summary}", "switch another lamp"))
    paths = [str(tmp_path / "other"), installation.environment["PYTHONPATH"]]
    installation.environment["PYTHONPATH"] = os.pathsep.join(paths)
    text, imported = installation.overview()
    assert imported and "switch another lamp" in text


@pytest.mark.thorough
def test_a_plugin_that_fails_is_not_stored_in_the_index(installation: Installation) -> None:
    (installation.package / "plugin.py").write_text("import acme_switches\n")
    for _ in range(2):
        text, imported = installation.overview()
        assert not imported and "No module named 'acme_switches'" in text
    (installation.package / "plugin.py").write_text(PLUGIN)
    assert "switch a lamp" in installation.overview()[0]


@pytest.mark.thorough
def test_the_error_of_a_class_that_fails_to_load_names_its_plugin(installation: Installation) -> None:
    (installation.package / "lamp.py").write_text(
        f"import os\nif os.environ.get('LAMPS') == 'broken':\n    1 / 0\n{LAMP}"
    )
    installation.overview()
    installation.environment["LAMPS"] = "broken"
    words = [sys.executable, "-m", "cosim", "lamp"]
    done = subprocess.run(words, env=installation.environment, capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout
    assert "plugin 'lamps' (acme-lamps 1.0)" in done.stderr and "division by zero" in done.stderr
    assert "lamp.py:3" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.thorough
def test_the_option_strict_imports_all_plugins(installation: Installation) -> None:
    installation.overview()
    shown = "print('acme_lamps.plugin' in sys.modules)"
    code = f"import sys, cosim.cli as c; c.main(['plugins', '--strict']); {shown}"
    assert installation.python(code).splitlines()[-1] == "True"


def test_a_damaged_index_is_written_again(installation: Installation) -> None:
    first, _ = installation.overview()
    for file in Path(installation.environment["COSIM_CACHE_DIR"]).rglob("kernels/*"):
        file.write_bytes(file.read_bytes()[:-40] + b"x" * 40)
    words = [sys.executable, "-m", "cosim", "--help"]
    done = subprocess.run(words, env=installation.environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == first.strip()


@pytest.mark.thorough
def test_no_name_that_a_package_loads_late_is_that_of_a_module() -> None:
    """Importing a module of the same name would replace the name in its package."""
    code = """
import importlib, pkgutil
known = {"spatial", "contracts", "forces", "constraints", "testing", "export", "master"}
for package in ("cosim_mechanics", "cosim_dynamics", "cosim_fmu"):
    p = importlib.import_module(package)
    names = [name for name in dir(p) if name[0] != "_"]
    for name in names:
        getattr(p, name)
    print({module.name for module in pkgutil.iter_modules(p.__path__)} & set(names) - known)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "set()\n" * 3, done.stderr


SINK = """
import cosim

class {name}(cosim.ResultSink):
    '''Writes a word.'''
    suffixes = (".{word}",)

    def write(self, result, path):
        path.write_text("written")
"""
REGISTERED = """
import cosim
from acme_lamps.first import First
from acme_lamps.second import Second

@cosim.hookimpl
def cosim_register(register):
    register("lamps.first", First)
    register("lamps.second", Second)
"""


@pytest.mark.thorough
def test_a_file_suffix_loads_only_the_class_that_writes_it(installation: Installation) -> None:
    for word in ("first", "second"):
        (installation.package / f"{word}.py").write_text(
            SINK.replace("{word}", word).replace("{name}", word.title())
        )
    (installation.package / "plugin.py").write_text(REGISTERED)
    code = (
        "import sys; from pathlib import Path; from cosim.simulation.result_files import result_sink\n"
        "print(type(result_sink(Path('a.FIRST'))).__name__, 'acme_lamps.second' in sys.modules)\n"
        "try: result_sink(Path('a.third'))\n"
        "except Exception as error: print(error)\n"
    )
    endings = "a.third: no plugin writes results that end in '.third'. There are: .first, .second."
    assert installation.python(code).splitlines() == ["First True", endings]
    assert installation.python(code).splitlines() == ["First False", endings]


def test_our_plugins_are_imported_by_another_process_for_the_list(tmp_path: Path) -> None:
    """Importing all plugins checks all kernel functions, which takes longer than a run that uses a few."""
    installation = Installation(tmp_path)
    installation.environment["COSIM_PLUGINS"] = "mechanics,integrators"
    code = (
        "import sys, cosim\n"
        "kinds = {entry.kind for record in cosim.registry().plugins for entry in record.entries}\n"
        "print(kinds >= {'joint', 'integrator'})\n"
        "print([name for name in sys.modules if name.startswith('cosim_mechanics')])\n"
    )
    assert installation.python(code).splitlines() == ["True", "[]"]


@pytest.mark.thorough
def test_the_functions_of_a_class_are_read_when_it_is_used(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.environment["COSIM_PLUGINS"] = "mechanics"
    code = (
        "import cosim\n"
        "pin = cosim.registry().get('joint', 'mechanics.pin')\n"
        "print(len(pin.kernels) > 0, sorted(pin.arguments) == sorted([*pin.kernels, *pin.kink_functions]))\n"
    )
    assert installation.python(code).split() == ["True", "True"]


SHIPPED = """
import json, pathlib, sys
from cosim_compiler import shipped
shipped.FOLDER = pathlib.Path(sys.argv[1])
from cosim.registration import plugin_index
"""
SHIP = f"""{SHIPPED}
plugin_index.installed_plugins()
shipped.write(plugin_index.INDEX, plugin_index.index_to_ship())
"""
USE = f"""{SHIPPED}
listed = []
plugin_index.run_in_listing_process = listed.append
if len(sys.argv) > 2:
    come = plugin_index.shipped_content
    plugin_index.shipped_content = lambda *at: come(*at).replace(sys.argv[2].encode(), b'"other"')
before = set(sys.modules)
records = plugin_index.installed_plugins()
classes = {{entry.id: entry.target for record in records for entry in record.entries}}
print(json.dumps([classes, len(listed), "cosim_mechanics.plugin" in sys.modules]))
"""


@pytest.mark.thorough
def test_the_shipped_index_is_used_in_a_new_cache_folder(tmp_path: Path) -> None:
    """It lists the same classes as a new one, unless the digest of a file differs."""

    def run(code: str, *words: str) -> str:
        environment = {**os.environ, "COSIM_CACHE_DIR": str(tmp_path / f"cache{next(numbers)}")}
        environment.pop("COSIM_NO_SHIPPED", None)
        command = [sys.executable, "-c", code, str(tmp_path / "shipped"), *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    numbers = itertools.count()
    classes, listings, is_imported = json.loads(run(USE))
    assert classes["mechanics.pin"] == "cosim_mechanics.pin:Pin" and listings == 1 and is_imported
    run(SHIP)
    assert json.loads(run(USE)) == [classes, 0, False]
    spec = importlib.util.find_spec("cosim_mechanics.plugin")
    assert spec is not None and spec.origin is not None
    digest = hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()
    assert json.loads(run(USE, f'"{digest}"'))[1:] == [1, True]
