"""Loading plugins: what is refused, what is said about it, and that nobody else is harmed."""

import itertools
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib.metadata import EntryPoint, distributions
from pathlib import Path

import pytest

import cosim
from cosim.errors import LookUpError, PluginError
from cosim.registration.hookspecs import CONTRACT_VERSION
from cosim.registration.kinds import declared_kinds
from cosim.registration.registry import Registry, registry, use_registry
from cosim.registration.selection import selection

GREETING = '''
import cosim

class Greet(cosim.Command):
    """Say hello."""
    name = "greet"
    summary = "say hello"
    def configure(self, parser): parser.add_argument("who")
    def run(self, arguments): print("hello,", arguments.who); return 0
'''
SOUND = (
    GREETING
    + """
@cosim.hookimpl
def cosim_register(register):
    register("{name}.greet", Greet)
"""
)
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make distributions in a folder of their own that is on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    count = itertools.count()

    def install(
        name: str, source: str = SOUND, distribution: str = "", version: str = "1.5", value: str = ""
    ) -> None:
        distribution = distribution or f"acme-{name}"
        module = f"plugin_{tmp_path.name}_{next(count)}"
        (tmp_path / f"{module}.py").write_text(source.replace("{name}", name), "utf-8")
        info = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n", "utf-8"
        )
        (info / "entry_points.txt").write_text(f"[cosim]\n{name} = {value or module}\n", "utf-8")

    return install


def candidates(folder: Path) -> list[EntryPoint]:
    return [point for found in distributions(path=[str(folder)]) for point in found.entry_points]


def reason(folder: Path, name: str) -> str:
    """Why the plugin of that name failed; all others must have loaded."""
    found = Registry.discover(candidates(folder))
    assert [record.name for record in found.failures] == [name]
    (failed,) = found.failures
    assert failed.error is not None and failed.entries == ()
    assert (failed.error.plugin, failed.error.distribution, failed.error.version) == (
        name,
        f"acme-{name}",
        "1.5",
    )
    return failed.reason


def test_a_sound_plugin(install: Install, tmp_path: Path) -> None:
    install("tyres")
    found = Registry.discover(candidates(tmp_path))
    (record,) = found.plugins
    assert (record.name, record.distribution, record.version, record.status) == (
        "tyres",
        "acme-tyres",
        "1.5",
        "loaded",
    )
    (entry,) = found.entries("command")
    assert found.get("command", "tyres.greet") is entry.cls
    assert found.owner(entry.cls) is entry
    assert (entry.id, entry.plugin, entry.distribution, entry.version) == (
        "tyres.greet",
        "tyres",
        "acme-tyres",
        "1.5",
    )


@pytest.mark.parametrize(
    "code", ["import casadi_that_is_not_there", "1 / 0", "raise SystemExit(3)", "def broken(:"]
)
def test_a_plugin_that_cannot_be_imported(install: Install, tmp_path: Path, code: str) -> None:
    install("tyres")
    install("broken", code)
    assert reason(tmp_path, "broken").startswith(
        ("ModuleNotFound", "ZeroDivision", "SystemExit", "SyntaxError")
    )
    with pytest.raises(LookUpError, match=r"'broken' \(acme-broken 1.5\) did not load: \w+: ") as caught:
        Registry.discover(candidates(tmp_path)).get("command", "broken.greet")
    assert caught.value.known == ["tyres.greet"]


def test_a_module_that_is_not_there(install: Install, tmp_path: Path) -> None:
    install("broken", value="nowhere_at_all.plugin")
    assert "No module named 'nowhere_at_all'" in reason(tmp_path, "broken")


def test_a_name_that_is_claimed_twice_is_refused_for_both(install: Install, tmp_path: Path) -> None:
    install("tyres", distribution="acme-tyres")
    install("tyres", distribution="zenith-tyres", version="0.3")
    install("wheels")
    found = Registry.discover(candidates(tmp_path))
    assert [entry.id for entry in found.entries("command")] == ["wheels.greet"]
    assert [record.distribution for record in found.failures] == ["acme-tyres", "zenith-tyres"]
    for record in found.failures:
        assert "acme-tyres 1.5" in record.reason and "zenith-tyres 0.3" in record.reason


def test_a_misspelt_hook(install: Install, tmp_path: Path) -> None:
    install("broken", "import cosim\n@cosim.hookimpl\ndef cosim_registers(register): ...")
    assert "hook cosim_registers: write `@cosim.hookimpl def cosim_register" in reason(tmp_path, "broken")


@pytest.mark.parametrize("mark", ["", "@cosim.hookimpl\n"])
def test_one_hook_for_each_kind_is_answered_with_the_one_hook(
    install: Install, tmp_path: Path, mark: str
) -> None:
    install("broken", f"import cosim\n{mark}def cosim_register_force_elements(register): ...")
    said = reason(tmp_path, "broken")
    assert "hook cosim_register_force_elements: write" in said
    assert "def cosim_register(register): …` once" in said and "kind follows" in said


def test_a_plugin_without_a_hook(install: Install, tmp_path: Path) -> None:
    install("broken", "import cosim")
    assert reason(tmp_path, "broken").startswith("it has no hook: write ")


def test_a_hook_without_its_mark(install: Install, tmp_path: Path) -> None:
    install("broken", "def cosim_register(register): ...")
    assert "marked: write @cosim.hookimpl" in reason(tmp_path, "broken")


def test_a_hook_with_a_wrong_argument(install: Install, tmp_path: Path) -> None:
    install("broken", "import cosim\n@cosim.hookimpl\ndef cosim_register(registry): ...")
    assert "registry" in reason(tmp_path, "broken")


@pytest.mark.parametrize(
    ("registration", "said"),
    [
        ('register("broken.greet", object)', "object derives from no kind. There are: cosim.Command, "),
        ('register("broken.greet", Greet())', "is not a class"),
        ('register("other.greet", Greet)', "must be 'broken.<snake_case>', such as 'broken.greet'"),
        ('register("broken.Greet", Greet)', "must be 'broken.<snake_case>'"),
        ('register("greet", Greet)', "must be 'broken.<snake_case>'"),
        ("register(None, Greet)", "must be 'broken.<snake_case>'"),
        ('register("broken.greet", cosim.Command)', "lacks configure, run, which Command demands"),
        ('register("broken.greet", type("Mute", (Greet,), {"__doc__": None}))', "has no docstring"),
        ("raise KeyError('inside')", "KeyError: 'inside'"),
    ],
)
def test_what_register_refuses(install: Install, tmp_path: Path, registration: str, said: str) -> None:
    install("tyres")
    install("broken", GREETING + f"@cosim.hookimpl\ndef cosim_register(register):\n    {registration}\n")
    assert said in reason(tmp_path, "broken")


def test_of_two_that_claim_one_id_only_that_id_is_refused(install: Install, tmp_path: Path) -> None:
    twice = (
        'register("wheels.greet", Greet)\n    '
        'register("wheels.greet", type("Again", (Greet,), {"__doc__": "x"}))\n    '
        'register("wheels.part", type("Part", (cosim.Component,), {"__doc__": "x"})); '
        'register("wheels.nod", Greet); register("wheels.nod", Greet)'
    )
    install("wheels", GREETING + f"@cosim.hookimpl\ndef cosim_register(register):\n    {twice}\n")
    found = Registry.discover(candidates(tmp_path))
    assert [entry.id for entry in found.entries("command")] == ["wheels.nod"]
    assert found.get("component", "wheels.part")
    assert found.failures == []
    with pytest.raises(LookUpError, match="no command 'wheels.greet'") as caught:
        found.get("command", "wheels.greet")
    (refusal,) = found.refusals
    for said in (str(caught.value), refusal.reason):
        assert ":Greet and by " in said and ":Again, both of plugin 'wheels' (acme-wheels 1.5)" in said
    shown = listing(tmp_path, "--strict")
    assert shown.returncode == 1
    assert "REFUSED: wheels.greet is claimed by " in shown.stdout


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("import cosim\n\n1 / 0", 3),
        ("import cosim\ndef broken(:", 2),
        ("import cosim\nimport json\njson.loads('{')", 3),
        ("import cosim\n\n\ncosim.parse_unit('furlong')", 4),
        (GREETING + "@cosim.hookimpl\ndef cosim_register(register):\n    register('greet', Greet)\n", 12),
    ],
)
def test_a_failure_is_shown_with_file_and_line(
    install: Install, tmp_path: Path, source: str, line: int
) -> None:
    install("broken", source)
    (module,) = tmp_path.glob("plugin_*.py")
    assert reason(tmp_path, "broken").endswith(f"({module}:{line})")


def test_names_of_the_distribution_that_provides_cosim_belong_to_it(install: Install, tmp_path: Path) -> None:
    install("tyres", distribution="acme-tyres")
    install("tyres", distribution="Cosim_Framework")
    found = Registry.discover(candidates(tmp_path))
    assert [entry.distribution for entry in found.entries("command")] == ["Cosim_Framework"]
    (failed,) = found.failures
    assert failed.distribution == "acme-tyres"
    assert failed.reason == "the name 'tyres' belongs to cosim-framework: rename the entry point"


def test_an_entry_point_whose_name_cannot_begin_an_id(install: Install, tmp_path: Path) -> None:
    install("my-tyres")
    assert "must be snake_case" in reason(tmp_path, "my-tyres")


@pytest.mark.parametrize("declared", ["'1'", "'1.0'"])
def test_contract_versions_that_fit(install: Install, tmp_path: Path, declared: str) -> None:
    install("tyres", SOUND + f"\ncosim_contract = {declared}\n")
    (record,) = Registry.discover(candidates(tmp_path)).plugins
    assert record.status == "loaded"
    assert record.contract == declared.strip("'")


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (f"'{CONTRACT_VERSION[0]}.{CONTRACT_VERSION[1] + 1}'", "upgrade cosim-framework"),
        ("'2'", "made for contract 2, this cosim has contract 1.0: upgrade cosim-framework"),
        ("'10.0'", "upgrade cosim-framework"),
        ("'0.9'", "look for a newer release of the plugin"),
        ("1.0", "needs a text"),
        ("'new'", "needs a text"),
    ],
)
def test_contract_versions_that_do_not(install: Install, tmp_path: Path, declared: str, said: str) -> None:
    install("broken", SOUND + f"\ncosim_contract = {declared}\n")
    assert said in reason(tmp_path, "broken")


def test_the_order_of_loading_changes_nothing(install: Install, tmp_path: Path) -> None:
    for name in ("wheels", "tyres", "axles", "rims"):
        install(name)
    install("broken", "1 / 0")
    install("rims", distribution="zenith-rims")
    points = candidates(tmp_path)
    seen = set()
    for seed in range(10):
        random.Random(seed).shuffle(points)
        seen.add(json.dumps([record.to_dict() for record in Registry.discover(points).plugins]))
    assert len(seen) == 1


def test_only_some_plugins(install: Install, tmp_path: Path) -> None:
    install("wheels")
    install("tyres")
    found = Registry.discover(candidates(tmp_path), only=["tyres"])
    assert [(record.name, record.status) for record in found.plugins] == [
        ("tyres", "loaded"),
        ("wheels", "skipped"),
    ]
    assert found.failures == []
    with pytest.raises(LookUpError, match="'wheels'.*loaded: COSIM_PLUGINS"):
        found.get("command", "wheels.greet")


def test_a_plugin_that_is_asked_for_and_not_installed(install: Install, tmp_path: Path) -> None:
    install("tyres")
    (failed,) = Registry.discover(candidates(tmp_path), only=["tyre"]).failures
    assert "installed distribution provides" in failed.reason


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, None),
        ({"COSIM_PLUGINS": "a,b"}, {"a", "b"}),
        ({"COSIM_DISABLE_PLUGIN_AUTOLOAD": "1"}, set()),
        ({"COSIM_DISABLE_PLUGIN_AUTOLOAD": "0"}, None),
        ({"COSIM_DISABLE_PLUGIN_AUTOLOAD": "1", "COSIM_PLUGINS": "a"}, {"a"}),
    ],
)
def test_what_the_environment_selects(environment: dict[str, str], wanted: set[str] | None) -> None:
    assert selection(environment) == wanted


def test_look_ups_that_fail(install: Install, tmp_path: Path) -> None:
    install("tyres")
    found = Registry.discover(candidates(tmp_path))
    with pytest.raises(LookUpError, match=r"'tyres.gret'\. Nearest: tyres.greet\. .*`cosim"):
        found.get("command", "tyres.gret")
    with pytest.raises(LookUpError, match="'tyres.greet' is a command"):
        found.get("integrator", "tyres.greet")
    with pytest.raises(LookUpError, match="'comand'. Nearest: command"):
        found.get("comand", "tyres.greet")
    with pytest.raises(LookUpError, match="no registered class"):
        found.owner(int)


def test_an_id_of_a_plugin_that_is_not_installed(install: Install, tmp_path: Path) -> None:
    """What the other plugins have is no help then, but for a misspelling."""
    install("tyres")
    found = Registry.discover(candidates(tmp_path))
    with pytest.raises(LookUpError) as raised:
        found.get("command", "engine_mount.run")
    assert str(raised.value) == (
        "no command 'engine_mount.run'. No plugin 'engine_mount' is installed. Installed: `cosim plugins`."
    )
    with pytest.raises(LookUpError, match=r"tyres\.greet\..*'tyre'.*installed"):
        found.get("command", "tyre.greet")
    with pytest.raises(LookUpError, match=r"'run'\..*tyres\.greet\. Installed"):
        found.get("command", "run")


def test_a_manifest_gives_the_same_entries_without_discovery(install: Install, tmp_path: Path) -> None:
    install("tyres")
    rows = [entry.to_dict() for entry in Registry.discover(candidates(tmp_path)).entries("command")]
    again = Registry.from_manifest(json.loads(json.dumps(rows)))
    assert [entry.to_dict() for entry in again.entries("command")] == rows
    rows[0]["target"] = rows[0]["target"].replace("Greet", "Gone")
    with pytest.raises(
        PluginError, match=r"plugin 'tyres' \(acme-tyres 1.5\): tyres.greet: cannot load .*Gone"
    ):
        Registry.from_manifest(rows)


def test_a_registry_in_use_is_seen_in_its_own_thread_alone() -> None:
    chosen, seen = Registry([]), []
    with use_registry(chosen):
        thread = threading.Thread(target=lambda: seen.append(registry()))
        thread.start()
        thread.join()
        assert registry() is chosen
    assert registry() is registry() is seen[0]
    assert registry() is not chosen


def test_our_own_plugins_load() -> None:
    """The ten plugins of this distribution, each with something registered."""
    ours = [record for record in registry().plugins if record.distribution == "cosim-framework"]
    assert [record.name for record in ours] == [
        "animation",
        "dynamics",
        "ensembles",
        "fmu",
        "integrators",
        "measures",
        "mechanics",
        "robots",
        "signals",
        "workbench",
    ]
    assert [str(record) for record in ours if record.status != "loaded"] == []
    assert [record.name for record in ours if not record.entries] == []
    assert {record.contract for record in ours} == {"1.0"}


def test_a_kind_is_found_under_the_kinds_of_its_bases() -> None:
    assert registry().entry("joint", "mechanics.pin") is registry().entry("component", "mechanics.pin")
    assert registry().entry("joint", "mechanics.pin").kinds == ("joint", "component")
    with pytest.raises(LookUpError, match="'mechanics.pin' is a joint"):
        registry().get("measure", "mechanics.pin")
    with pytest.raises(LookUpError, match="'integrators.bdf' is an integrator"):
        registry().get("measure", "integrators.bdf")


KIND_OF_ITS_OWN = '''
import cosim

@cosim.plugin_kind("road_of_{name}")
class Road:
    """A surface."""

class Gravel(Road):
    """Loose stones."""

@cosim.hookimpl
def cosim_register(register):
    register("{name}.gravel", Gravel)
'''


def test_a_plugin_brings_a_kind_of_its_own(install: Install, tmp_path: Path) -> None:
    install("roads", KIND_OF_ITS_OWN)
    found = Registry.discover(candidates(tmp_path))
    assert [entry.id for entry in found.entries("road_of_roads")] == ["roads.gravel"]
    assert "road_of_roads" in declared_kinds()
    assert found.plugins[0].to_dict()["registers"] == {"road_of_roads": ["roads.gravel"]}


def test_a_kind_that_another_class_has(install: Install, tmp_path: Path) -> None:
    install("broken", KIND_OF_ITS_OWN.replace("road_of_{name}", "command"))
    said = reason(tmp_path, "broken")
    assert "the kind 'command' of " in said and "cosim.contracts.command:Command already" in said


def test_a_kind_of_the_kernel_that_is_declared_before_the_kernel_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cosim.registration.kinds._declared", {})
    cosim.plugin_kind("command")(type("Order", (), {}))
    with pytest.raises(cosim.ContractError, match=r":Order.*cosim\S+:Command already: choose"):
        cosim.plugin_kind("command")(cosim.Command)


def listing(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "cosim", "plugins", *options],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False,
    )  # fmt: skip


@pytest.mark.thorough
def test_the_list_of_plugins(install: Install, tmp_path: Path) -> None:
    """Also when a stranger's plugin claims the name of one of ours."""
    install("tyres")
    install("mechanics", distribution="foreign-mechanics")
    install("broken", "import casadi_that_is_not_there")
    shown = json.loads(listing(tmp_path, "--json").stdout)["result"]
    rows = {(row["name"], row["distribution"]): row for row in shown["plugins"]}
    assert rows["tyres", "acme-tyres"]["registers"] == {"command": ["tyres.greet"]}
    assert rows["broken", "acme-broken"]["status"] == "failed"
    assert rows["mechanics", "cosim-framework"]["status"] == "loaded"
    assert "belongs to cosim-framework" in rows["mechanics", "foreign-mechanics"]["reason"]
    plain = listing(tmp_path)
    assert plain.returncode == 0
    assert "FAILED: ModuleNotFoundError" in plain.stdout
    assert "command: tyres.greet" in plain.stdout
    strict = listing(tmp_path, "--strict", "--traceback")
    assert strict.returncode == 1
    assert "Traceback" in strict.stdout


def test_a_distribution_whose_metadata_are_damaged(install: Install, tmp_path: Path) -> None:
    install("tyres")
    (tmp_path / "acme_tyres-1.5.dist-info" / "METADATA").unlink()
    install("wheels")
    shown = listing(tmp_path, "--json")
    assert shown.returncode == 0, shown.stderr
    assert {"tyres", "wheels"} <= {row["name"] for row in json.loads(shown.stdout)["result"]["plugins"]}


@pytest.mark.parametrize("ending", ["", "\nraise ValueError('half way')\n"])
def test_a_plugin_that_changes_the_folder_at_import_leaves_it_as_it_was(
    ending: str, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, elsewhere = tmp_path / "mine", tmp_path / "elsewhere"
    mine.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(mine)
    install("wander", f"import os\nos.chdir({str(elsewhere)!r})\n{SOUND}{ending}")
    records = {record.name: record for record in Registry.discover().plugins}
    assert Path.cwd() == mine
    assert records["wander"].status == ("failed" if ending else "loaded")
