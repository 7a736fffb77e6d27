"""The index of installed plugins: a start that needs none of them imports none."""

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


class Place:
    """A folder with a plugin installed in it, and a cache."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "site" / "acme_lamps"
        self.package.mkdir(parents=True)
        (self.package / "__init__.py").write_text("")
        (self.package / "plugin.py").write_text(PLUGIN)
        self.write("switch a lamp")
        info = folder / "site" / "acme_lamps-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-lamps\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[cosim]\nlamps = acme_lamps.plugin\n")
        path = os.pathsep.join([str(folder / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.environment = {**os.environ, "PYTHONPATH": path, "COSIM_CACHE_DIR": str(folder / "cache")}
        self.environment["COSIM_PLUGINS"] = "lamps"

    def write(self, summary: str) -> None:
        (self.package / "lamp.py").write_text(LAMP.replace("{summary}", summary))

    def python(self, code: str) -> str:
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=True)
        assert not done.stderr
        return done.stdout

    def overview(self) -> tuple[str, bool]:
        """What ``cosim --help`` says, and whether the plugin was imported for it."""
        code = "import sys, cosim.cli as c; c.main(['--help']); print('acme_lamps.plugin' in sys.modules)"
        *lines, imported = self.python(code).splitlines()
        return "\n".join(lines), imported == "True"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_is_installed_is_imported_once(place: Place) -> None:
    first, imported = place.overview()
    assert imported and "lamp     switch" in first
    assert place.overview() == (first, False)
    assert place.python("import cosim.cli as c; c.main(['lamp'])") == "on\n"


def test_a_changed_file_is_seen(place: Place) -> None:
    place.overview()
    place.write("switch another lamp")
    text, imported = place.overview()
    assert imported and "switch another lamp" in text
    (place.package / "lamp.py").unlink()
    text, _ = place.overview()
    assert "'lamps' (acme-lamps 1.0) did not load: ModuleNotFoundError" in text


def entry_points(place: Place) -> list[str]:
    """The entry points of others that are installed, and whether `importlib.metadata` read them."""
    code = """
import sys
from cosim.registration.candidate import installed_candidates
found = [c for c in installed_candidates() if c.distribution.startswith("acme-")]
needed = "importlib.metadata" in sys.modules
print(*(f"{c.name}={c.load().__name__} {c.distribution}-{c.version}" for c in found), needed)
"""
    return place.python(code).split()


def test_what_is_installed_is_read_once(place: Place) -> None:
    """Again where a distribution comes, goes or is another one."""
    info = place.package.parent / "acme_lamps-1.0.dist-info"
    lamps = ["lamps=acme_lamps.plugin", "acme-lamps-1.0"]
    assert entry_points(place) == [*lamps, "True"]
    assert entry_points(place) == [*lamps, "False"]
    (info / "entry_points.txt").write_text("[cosim]\nlights = acme_lamps.plugin\n")
    lights = ["lights=acme_lamps.plugin", "acme-lamps-1.0"]
    assert entry_points(place) == [*lights, "True"]
    second = info.with_name("acme_other-2.0.dist-info")
    shutil.copytree(info, second)
    (second / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-other\nVersion: 2.0\n")
    other = ["lights=acme_lamps.plugin", "acme-other-2.0"]
    assert sorted(entry_points(place)) == sorted([*lights, *other, "True"])
    assert sorted(entry_points(place)) == sorted([*lights, *other, "False"])
    shutil.rmtree(second)
    assert entry_points(place) == [*lights, "False"], "all is as it was before"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-lamps\nVersion: 1.25\n")
    assert entry_points(place) == [lights[0], "acme-lamps-1.25", "True"]
    shutil.rmtree(info)
    assert entry_points(place) == ["True"]


def test_distributions_in_archives_are_read_each_time(place: Place, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "site"), "zip", tmp_path / "site")
    place.environment["PYTHONPATH"] = place.environment["PYTHONPATH"].replace(str(tmp_path / "site"), archive)
    for _ in range(2):
        assert entry_points(place) == ["lamps=acme_lamps.plugin", "acme-lamps-1.0", "True"]


@pytest.mark.thorough
def test_places_that_hold_nothing_of_it_do_not_matter(place: Place, tmp_path: Path) -> None:
    first, _ = place.overview()
    for name in ("before", "behind"):
        (tmp_path / name).mkdir()
    words = [str(tmp_path / "before"), place.environment["PYTHONPATH"], str(tmp_path / "behind")]
    place.environment["PYTHONPATH"] = os.pathsep.join(words)
    assert place.overview() == (first, False)


@pytest.mark.few(1)
@pytest.mark.parametrize("package", ["acme_lamps", "acme_switches"])
def test_a_package_that_comes_first_takes_the_place_of_another(
    place: Place, tmp_path: Path, package: str
) -> None:
    """The plugin's own, and one that only a base class comes from."""
    derived = 'from acme_switches import Lamp as Base\nclass Lamp(Base):\n    """Switch a lamp."""\n'
    (place.package / "lamp.py").write_text(derived)
    here, there = tmp_path / "site" / "acme_switches", tmp_path / "other" / package
    here.mkdir()
    (here / "__init__.py").write_text(LAMP.replace("{summary}", "switch a lamp"))
    text, imported = place.overview()
    assert imported and "switch a lamp" in text
    shutil.copytree(tmp_path / "site" / package, there, ignore=shutil.ignore_patterns("__pycache__"))
    file = there / ("lamp.py" if package == "acme_lamps" else "__init__.py")
    file.write_text(LAMP.replace("{summary}", "switch another lamp"))
    paths = [str(tmp_path / "other"), place.environment["PYTHONPATH"]]
    place.environment["PYTHONPATH"] = os.pathsep.join(paths)
    text, imported = place.overview()
    assert imported and "switch another lamp" in text


@pytest.mark.thorough
def test_a_plugin_that_fails_is_not_in_an_index(place: Place) -> None:
    (place.package / "plugin.py").write_text("import acme_switches\n")
    for _ in range(2):
        text, imported = place.overview()
        assert not imported and "No module named 'acme_switches'" in text
    (place.package / "plugin.py").write_text(PLUGIN)
    assert "switch a lamp" in place.overview()[0]


@pytest.mark.thorough
def test_a_class_that_cannot_be_imported_later_names_its_plugin(place: Place) -> None:
    (place.package / "lamp.py").write_text(
        f"import os\nif os.environ.get('LAMPS') == 'broken':\n    1 / 0\n{LAMP}"
    )
    place.overview()
    place.environment["LAMPS"] = "broken"
    words = [sys.executable, "-m", "cosim", "lamp"]
    done = subprocess.run(words, env=place.environment, capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout
    assert "plugin 'lamps' (acme-lamps 1.0)" in done.stderr and "division by zero" in done.stderr
    assert "lamp.py:3" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.thorough
def test_strict_asks_the_plugins_themselves(place: Place) -> None:
    place.overview()
    shown = "print('acme_lamps.plugin' in sys.modules)"
    code = f"import sys, cosim.cli as c; c.main(['plugins', '--strict']); {shown}"
    assert place.python(code).splitlines()[-1] == "True"


def test_a_damaged_index_is_made_again(place: Place) -> None:
    first, _ = place.overview()
    for file in Path(place.environment["COSIM_CACHE_DIR"]).rglob("kernels/*"):
        file.write_bytes(file.read_bytes()[:-40] + b"x" * 40)
    words = [sys.executable, "-m", "cosim", "--help"]
    done = subprocess.run(words, env=place.environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == first.strip()


@pytest.mark.thorough
def test_names_that_come_late() -> None:
    """A module of the same name would take the place of the plugin's."""
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
def test_an_ending_loads_the_class_that_has_it_alone(place: Place) -> None:
    for word in ("first", "second"):
        (place.package / f"{word}.py").write_text(
            SINK.replace("{word}", word).replace("{name}", word.title())
        )
    (place.package / "plugin.py").write_text(REGISTERED)
    code = (
        "import sys; from pathlib import Path; from cosim.simulation.result_files import result_sink\n"
        "print(type(result_sink(Path('a.FIRST'))).__name__, 'acme_lamps.second' in sys.modules)\n"
        "try: result_sink(Path('a.third'))\n"
        "except Exception as error: print(error)\n"
    )
    endings = "a.third: no plugin writes results that end in '.third'. There are: .first, .second."
    assert place.python(code).splitlines() == ["First True", endings]
    assert place.python(code).splitlines() == ["First False", endings]


def test_our_plugins_are_listed_by_another_process(tmp_path: Path) -> None:
    """To check all kernel functions of all plugins takes longer than a run that uses a few of them."""
    place = Place(tmp_path)
    place.environment["COSIM_PLUGINS"] = "mechanics,integrators"
    code = (
        "import sys, cosim\n"
        "kinds = {entry.kind for record in cosim.registry().plugins for entry in record.entries}\n"
        "print(kinds >= {'joint', 'integrator'})\n"
        "print([name for name in sys.modules if name.startswith('cosim_mechanics')])\n"
    )
    assert place.python(code).splitlines() == ["True", "[]"]


@pytest.mark.thorough
def test_a_listed_class_is_checked_where_it_is_used(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.environment["COSIM_PLUGINS"] = "mechanics"
    code = (
        "import cosim\n"
        "pin = cosim.registry().get('joint', 'mechanics.pin')\n"
        "print(len(pin.kernels) > 0, sorted(pin.arguments) == sorted([*pin.kernels, *pin.kink_functions]))\n"
    )
    assert place.python(code).split() == ["True", "True"]


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
def test_an_index_comes_with_the_package(tmp_path: Path) -> None:
    """In a new cache folder it is as good as one that was made there, unless a file has other contents."""

    def run(code: str, *words: str) -> str:
        environment = {**os.environ, "COSIM_CACHE_DIR": str(tmp_path / f"cache{next(numbers)}")}
        environment.pop("COSIM_NO_SHIPPED", None)
        command = [sys.executable, "-c", code, str(tmp_path / "shipped"), *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    numbers = itertools.count()
    made, was_listed, imported = json.loads(run(USE))
    assert made["mechanics.pin"] == "cosim_mechanics.pin:Pin" and was_listed == 1 and imported
    run(SHIP)
    assert json.loads(run(USE)) == [made, 0, False]
    place = importlib.util.find_spec("cosim_mechanics.plugin")
    assert place is not None and place.origin is not None
    digest = hashlib.sha256(Path(place.origin).read_bytes()).hexdigest()
    assert json.loads(run(USE, f'"{digest}"'))[1:] == [1, True]
