"""``cosim plugins``: it works when every plugin is broken."""

from __future__ import annotations

import argparse
import traceback
from typing import ClassVar

from cosim.command_line.exit_status import ExitStatus
from cosim.contracts.command import Command
from cosim.registration.hookspecs import CONTRACT_VERSION
from cosim.registration.plugin_record import PluginRecord
from cosim.registration.registry import Registry, registry
from cosim.version import __version__


class PluginsCommand(Command):
    """List the plugins that were found and loaded, what they register, and their faults."""

    name: ClassVar[str] = "plugins"
    summary: ClassVar[str] = "list the installed plugins, what each registers, or why it failed"
    examples = (("cosim plugins", ""), ("cosim plugins --strict", "also a test that all of them load"))
    failure: ClassVar[str] = "--strict: a plugin did not load, or an id is refused"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Whether faults count."""
        parser.add_argument("--strict", action="store_true", help="exit status 1 if a plugin did not load")
        parser.add_argument("--traceback", action="store_true", help="show where each failed plugin failed")

    def run(self, arguments: argparse.Namespace) -> int:
        """List them."""
        plugins = registry()
        if arguments.strict and not plugins.is_loaded:
            plugins = Registry.discover()
        ours = ".".join(map(str, CONTRACT_VERSION))
        self.report(contract=ours, plugins=[record.to_dict() for record in plugins.plugins])
        print(f"cosim {__version__}, contract {ours}, {len(plugins.plugins)} plugins")
        for record in plugins.plugins:
            print(_described(record, arguments.traceback))
        broken = plugins.failures or plugins.refusals
        return ExitStatus.FAILED if arguments.strict and broken else ExitStatus.DONE


def _described(record: PluginRecord, show_traceback: bool) -> str:
    """One plugin in plain text."""
    contract = f"contract {record.contract}" if record.contract else "no contract version declared"
    lines = [f"\n{record.name}: {record.distribution} {record.version}, {record.value}, {contract}"]
    if record.status != "loaded":
        lines = [f"\n{record.name}: {record.distribution} {record.version}, {record.value}"]
        lines.append(f"  {record.status.upper()}: {record.reason}")
    for kind, ids in record.to_dict()["registers"].items():
        lines.append(f"  {kind.replace('_', ' ')}: {', '.join(ids)}")
    lines += [f"  REFUSED: {refusal.reason}" for refusal in record.refused]
    if show_traceback and record.error is not None:
        lines += traceback.format_exception(record.error)
    return "\n".join(lines)
