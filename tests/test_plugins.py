"""Loading plugins: what is refused, with which message, and that other plugins are not affected."""

import json
import random
from pathlib import Path

import pytest
from plugin_folder import GREETING, SOUND, PluginFolder

from cosim.errors import LookUpError
from cosim.registration.hookspecs import CONTRACT_VERSION
from cosim.registration.registry import Registry
from cosim.registration.selection import selection


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PluginFolder:
    return PluginFolder(tmp_path, monkeypatch)


def test_a_plugin_without_a_fault_is_registered(plugins: PluginFolder) -> None:
    plugins.install("tyres")
    loaded = plugins.discover()
    (record,) = loaded.plugins
    assert (record.name, record.distribution, record.version, record.status) == (
        "tyres",
        "acme-tyres",
        "1.5",
        "loaded",
    )
    (entry,) = loaded.entries("command")
    assert loaded.get("command", "tyres.greet") is entry.cls
    assert loaded.owner(entry.cls) is entry
    assert (entry.id, entry.plugin, entry.distribution, entry.version) == (
        "tyres.greet",
        "tyres",
        "acme-tyres",
        "1.5",
    )


@pytest.mark.parametrize(
    "code", ["import casadi_that_is_not_there", "1 / 0", "raise SystemExit(3)", "def broken(:"]
)
def test_a_plugin_that_cannot_be_imported_is_reported(plugins: PluginFolder, code: str) -> None:
    plugins.install("tyres")
    plugins.install("broken", code)
    assert plugins.reason_of_failure("broken").startswith(
        ("ModuleNotFound", "ZeroDivision", "SystemExit", "SyntaxError")
    )
    with pytest.raises(LookUpError, match=r"'broken' \(acme-broken 1.5\) did not load: \w+: ") as caught:
        plugins.discover().get("command", "broken.greet")
    assert caught.value.known == ["tyres.greet"]


def test_an_entry_point_of_a_missing_module_is_reported(plugins: PluginFolder) -> None:
    plugins.install("broken", value="nowhere_at_all.plugin")
    assert "No module named 'nowhere_at_all'" in plugins.reason_of_failure("broken")


def test_two_distributions_with_one_plugin_name_are_both_refused(plugins: PluginFolder) -> None:
    plugins.install("tyres", distribution="acme-tyres")
    plugins.install("tyres", distribution="zenith-tyres", version="0.3")
    plugins.install("wheels")
    loaded = plugins.discover()
    assert [entry.id for entry in loaded.entries("command")] == ["wheels.greet"]
    assert [record.distribution for record in loaded.failures] == ["acme-tyres", "zenith-tyres"]
    for record in loaded.failures:
        assert "acme-tyres 1.5" in record.reason and "zenith-tyres 0.3" in record.reason


def test_a_misspelt_hook_is_refused(plugins: PluginFolder) -> None:
    plugins.install("broken", "import cosim\n@cosim.hookimpl\ndef cosim_registers(register): ...")
    assert "hook cosim_registers: write `@cosim.hookimpl def cosim_register" in plugins.reason_of_failure(
        "broken"
    )


@pytest.mark.parametrize("mark", ["", "@cosim.hookimpl\n"])
def test_a_hook_for_one_kind_is_answered_with_the_hook_for_all(plugins: PluginFolder, mark: str) -> None:
    plugins.install("broken", f"import cosim\n{mark}def cosim_register_force_elements(register): ...")
    message = plugins.reason_of_failure("broken")
    assert "hook cosim_register_force_elements: write" in message
    assert "def cosim_register(register): …` once" in message and "kind follows" in message


def test_a_plugin_without_a_hook_is_refused(plugins: PluginFolder) -> None:
    plugins.install("broken", "import cosim")
    assert plugins.reason_of_failure("broken").startswith("it has no hook: write ")


def test_a_hook_without_its_decorator_is_refused(plugins: PluginFolder) -> None:
    plugins.install("broken", "def cosim_register(register): ...")
    assert "marked: write @cosim.hookimpl" in plugins.reason_of_failure("broken")


def test_a_hook_with_a_wrong_argument_is_refused(plugins: PluginFolder) -> None:
    plugins.install("broken", "import cosim\n@cosim.hookimpl\ndef cosim_register(registry): ...")
    assert "registry" in plugins.reason_of_failure("broken")


@pytest.mark.parametrize(
    ("registration", "message"),
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
def test_a_wrong_registration_is_refused(plugins: PluginFolder, registration: str, message: str) -> None:
    plugins.install("tyres")
    plugins.install(
        "broken", GREETING + f"@cosim.hookimpl\ndef cosim_register(register):\n    {registration}\n"
    )
    assert message in plugins.reason_of_failure("broken")


def test_an_id_that_two_classes_claim_is_refused_and_no_other(plugins: PluginFolder) -> None:
    registrations = (
        'register("wheels.greet", Greet)\n    '
        'register("wheels.greet", type("Again", (Greet,), {"__doc__": "x"}))\n    '
        'register("wheels.part", type("Part", (cosim.Component,), {"__doc__": "x"})); '
        'register("wheels.nod", Greet); register("wheels.nod", Greet)'
    )
    plugins.install(
        "wheels", GREETING + f"@cosim.hookimpl\ndef cosim_register(register):\n    {registrations}\n"
    )
    loaded = plugins.discover()
    assert [entry.id for entry in loaded.entries("command")] == ["wheels.nod"]
    assert loaded.get("component", "wheels.part")
    assert loaded.failures == []
    with pytest.raises(LookUpError, match="no command 'wheels.greet'") as caught:
        loaded.get("command", "wheels.greet")
    (refusal,) = loaded.refusals
    for text in (str(caught.value), refusal.reason):
        assert ":Greet and by " in text and ":Again, both of plugin 'wheels' (acme-wheels 1.5)" in text
    shown = plugins.listing("--strict")
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
def test_a_failure_is_shown_with_file_and_line(plugins: PluginFolder, source: str, line: int) -> None:
    plugins.install("broken", source)
    (module,) = plugins.path.glob("plugin_*.py")
    assert plugins.reason_of_failure("broken").endswith(f"({module}:{line})")


def test_no_other_distribution_can_take_a_plugin_name_of_cosim(plugins: PluginFolder) -> None:
    plugins.install("tyres", distribution="acme-tyres")
    plugins.install("tyres", distribution="Cosim_Framework")
    loaded = plugins.discover()
    assert [entry.distribution for entry in loaded.entries("command")] == ["Cosim_Framework"]
    (failed,) = loaded.failures
    assert failed.distribution == "acme-tyres"
    assert failed.reason == "the name 'tyres' belongs to cosim-framework: rename the entry point"


def test_a_plugin_name_that_is_not_snake_case_is_refused(plugins: PluginFolder) -> None:
    plugins.install("my-tyres")
    assert "must be snake_case" in plugins.reason_of_failure("my-tyres")


@pytest.mark.parametrize("declared", ["'1'", "'1.0'"])
def test_a_plugin_for_this_contract_version_is_loaded(plugins: PluginFolder, declared: str) -> None:
    plugins.install("tyres", SOUND + f"\ncosim_contract = {declared}\n")
    (record,) = plugins.discover().plugins
    assert record.status == "loaded"
    assert record.contract == declared.strip("'")


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (f"'{CONTRACT_VERSION[0]}.{CONTRACT_VERSION[1] + 1}'", "upgrade cosim-framework"),
        ("'2'", "made for contract 2, this cosim has contract 1.0: upgrade cosim-framework"),
        ("'10.0'", "upgrade cosim-framework"),
        ("'0.9'", "look for a newer release of the plugin"),
        ("1.0", "needs a text"),
        ("'new'", "needs a text"),
    ],
)
def test_a_plugin_for_another_contract_version_is_refused(
    plugins: PluginFolder, declared: str, message: str
) -> None:
    plugins.install("broken", SOUND + f"\ncosim_contract = {declared}\n")
    assert message in plugins.reason_of_failure("broken")


def test_the_order_of_loading_does_not_change_the_result(plugins: PluginFolder) -> None:
    for name in ("wheels", "tyres", "axles", "rims"):
        plugins.install(name)
    plugins.install("broken", "1 / 0")
    plugins.install("rims", distribution="zenith-rims")
    points = plugins.entry_points()
    results = set()
    for seed in range(10):
        random.Random(seed).shuffle(points)
        results.add(json.dumps([record.to_dict() for record in Registry.discover(points).plugins]))
    assert len(results) == 1


def test_only_the_selected_plugins_are_loaded(plugins: PluginFolder) -> None:
    plugins.install("wheels")
    plugins.install("tyres")
    loaded = plugins.discover(only=["tyres"])
    assert [(record.name, record.status) for record in loaded.plugins] == [
        ("tyres", "loaded"),
        ("wheels", "skipped"),
    ]
    assert loaded.failures == []
    with pytest.raises(LookUpError, match="'wheels'.*loaded: COSIM_PLUGINS"):
        loaded.get("command", "wheels.greet")


def test_a_selected_plugin_that_is_not_installed_is_a_failure(plugins: PluginFolder) -> None:
    plugins.install("tyres")
    (failed,) = plugins.discover(only=["tyre"]).failures
    assert "installed distribution provides" in failed.reason


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"COSIM_PLUGINS": "a,b"}, {"a", "b"}),
        ({"COSIM_DISABLE_PLUGIN_AUTOLOAD": "1"}, set()),
        ({"COSIM_DISABLE_PLUGIN_AUTOLOAD": "0"}, None),
        ({"COSIM_DISABLE_PLUGIN_AUTOLOAD": "1", "COSIM_PLUGINS": "a"}, {"a"}),
    ],
)
def test_the_environment_selects_plugins(environment: dict[str, str], expected: set[str] | None) -> None:
    assert selection(environment) == expected


@pytest.mark.parametrize("ending", ["", "\nraise ValueError('half way')\n"])
def test_the_present_folder_is_restored_after_a_plugin_changes_it_at_import(
    ending: str, plugins: PluginFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    present, elsewhere = plugins.path / "present", plugins.path / "elsewhere"
    present.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(present)
    plugins.install("wander", f"import os\nos.chdir({str(elsewhere)!r})\n{SOUND}{ending}")
    records = {record.name: record for record in Registry.discover().plugins}
    assert Path.cwd() == present
    assert records["wander"].status == ("failed" if ending else "loaded")
