"""The registry of loaded plugins: look-ups, manifests, kinds of plugins, and the list that users see."""

import json
import threading
from pathlib import Path

import pytest
from plugin_folder import PluginFolder

import cosim
from cosim.errors import LookUpError, PluginError
from cosim.registration.kinds import declared_kinds
from cosim.registration.registry import Registry, registry, use_registry


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PluginFolder:
    return PluginFolder(tmp_path, monkeypatch)


def test_a_failed_look_up_names_the_nearest_id_or_the_kind(plugins: PluginFolder) -> None:
    plugins.install("tyres")
    loaded = plugins.discover()
    with pytest.raises(LookUpError, match=r"'tyres.gret'\. Nearest: tyres.greet\. .*`cosim"):
        loaded.get("command", "tyres.gret")
    with pytest.raises(LookUpError, match="'tyres.greet' is a command"):
        loaded.get("integrator", "tyres.greet")
    with pytest.raises(LookUpError, match="'comand'. Nearest: command"):
        loaded.get("comand", "tyres.greet")
    with pytest.raises(LookUpError, match="no registered class"):
        loaded.owner(int)


def test_an_id_of_a_missing_plugin_names_the_plugin(plugins: PluginFolder) -> None:
    """Other ids are listed only if the name of the plugin is nearly that of an installed one."""
    plugins.install("tyres")
    loaded = plugins.discover()
    with pytest.raises(LookUpError) as raised:
        loaded.get("command", "engine_mount.run")
    assert str(raised.value) == (
        "no command 'engine_mount.run'. No plugin 'engine_mount' is installed. Installed: `cosim plugins`."
    )
    with pytest.raises(LookUpError, match=r"tyres\.greet\..*'tyre'.*installed"):
        loaded.get("command", "tyre.greet")
    with pytest.raises(LookUpError, match=r"'run'\..*tyres\.greet\. Installed"):
        loaded.get("command", "run")


def test_a_manifest_gives_the_same_entries_without_discovery(plugins: PluginFolder) -> None:
    plugins.install("tyres")
    rows = [entry.to_dict() for entry in plugins.discover().entries("command")]
    from_manifest = Registry.from_manifest(json.loads(json.dumps(rows)))
    assert [entry.to_dict() for entry in from_manifest.entries("command")] == rows
    # a class that is missing later is an error that names its plugin
    rows[0]["target"] = rows[0]["target"].replace("Greet", "Gone")
    with pytest.raises(
        PluginError, match=r"plugin 'tyres' \(acme-tyres 1.5\): tyres.greet: cannot load .*Gone"
    ):
        Registry.from_manifest(rows)


def test_use_registry_affects_its_own_thread_alone() -> None:
    chosen, registries_of_thread = Registry([]), []
    with use_registry(chosen):
        thread = threading.Thread(target=lambda: registries_of_thread.append(registry()))
        thread.start()
        thread.join()
        assert registry() is chosen
    assert registry() is registry() is registries_of_thread[0]
    assert registry() is not chosen


def test_our_own_plugins_load() -> None:
    """Each of the ten plugins of this distribution registers something."""
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


def test_a_class_is_found_under_its_kind_and_that_of_its_base() -> None:
    assert registry().entry("joint", "mechanics.pin") is registry().entry("component", "mechanics.pin")
    assert registry().entry("joint", "mechanics.pin").kinds == ("joint", "component")
    with pytest.raises(LookUpError, match="'mechanics.pin' is a joint"):
        registry().get("measure", "mechanics.pin")
    with pytest.raises(LookUpError, match="'integrators.bdf' is an integrator"):
        registry().get("measure", "integrators.bdf")


NEW_KIND = '''
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


def test_a_plugin_may_declare_a_kind(plugins: PluginFolder) -> None:
    plugins.install("roads", NEW_KIND)
    loaded = plugins.discover()
    assert [entry.id for entry in loaded.entries("road_of_roads")] == ["roads.gravel"]
    assert "road_of_roads" in declared_kinds()
    assert loaded.plugins[0].to_dict()["registers"] == {"road_of_roads": ["roads.gravel"]}


def test_a_kind_that_another_class_has_is_refused(plugins: PluginFolder) -> None:
    plugins.install("broken", NEW_KIND.replace("road_of_{name}", "command"))
    reason = plugins.reason_of_failure("broken")
    assert "the kind 'command' of " in reason and "cosim.contracts.command:Command already" in reason


def test_a_kind_of_the_kernel_cannot_be_declared_before_the_kernel_declares_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cosim.registration.kinds._declared", {})
    cosim.plugin_kind("command")(type("Order", (), {}))
    with pytest.raises(cosim.ContractError, match=r":Order.*cosim\S+:Command already: choose"):
        cosim.plugin_kind("command")(cosim.Command)


@pytest.mark.thorough
def test_the_list_shows_loaded_and_failed_plugins(plugins: PluginFolder) -> None:
    """Also if a plugin of a third party claims the name of one of ours."""
    plugins.install("tyres")
    plugins.install("mechanics", distribution="foreign-mechanics")
    plugins.install("broken", "import casadi_that_is_not_there")
    shown = json.loads(plugins.listing("--json").stdout)["result"]
    rows = {(row["name"], row["distribution"]): row for row in shown["plugins"]}
    assert rows["tyres", "acme-tyres"]["registers"] == {"command": ["tyres.greet"]}
    assert rows["broken", "acme-broken"]["status"] == "failed"
    assert rows["mechanics", "cosim-framework"]["status"] == "loaded"
    assert "belongs to cosim-framework" in rows["mechanics", "foreign-mechanics"]["reason"]
    plain = plugins.listing()
    assert plain.returncode == 0
    assert "FAILED: ModuleNotFoundError" in plain.stdout
    assert "command: tyres.greet" in plain.stdout
    strict = plugins.listing("--strict", "--traceback")
    assert strict.returncode == 1
    assert "Traceback" in strict.stdout


def test_a_distribution_without_metadata_does_not_disturb_the_list(plugins: PluginFolder) -> None:
    plugins.install("tyres")
    (plugins.path / "acme_tyres-1.5.dist-info" / "METADATA").unlink()
    plugins.install("wheels")
    shown = plugins.listing("--json")
    assert shown.returncode == 0, shown.stderr
    assert {"tyres", "wheels"} <= {row["name"] for row in json.loads(shown.stdout)["result"]["plugins"]}
