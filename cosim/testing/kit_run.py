"""One class, checked by its contract kit."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cosim

TEST = """from {kit_module} import {kit}
import cosim

def _make(**options):
    return cosim.registry().get({kind!r}, {id!r})(**{{**{values!r}, **options}})

class TestIt({kit}):
    make = staticmethod(_make)
    locals().update({kit_values!r})
"""


class KitRun:
    """Runs the kit of a class through pytest, in a file of its own, and says what came out in words.

    Parameters
    ----------
    entry : RegisteredClass
    kit : str
        ``module:Class`` of the kit; empty where the class says it.
    values : mapping
        Parameters; what has neither one here nor a default gets a number between its bounds, but for what
        the class says itself (`Component.tried_with`).
    only : str
        Words that the names of checks have to have.
    """

    def __init__(self, entry: Any, kit: str, values: Mapping[str, Any], only: str = "") -> None:
        self.entry, self.kit, self.only = entry, kit, only
        self.values = {**_needed(entry.cls), **getattr(entry.cls, "tried_with", {}), **values}
        self.outcomes: list[tuple[str, str, str]] = []
        self.seconds = 0.0

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        checked = any(outcome in ("passed", "failed") for _, outcome, _ in self.outcomes)
        return checked and all(outcome != "failed" for _, outcome, _ in self.outcomes)

    def run(self, quiet: bool = False) -> None:
        """Run all checks, and print each one as it ends unless `quiet`."""
        if importlib.util.find_spec("pytest") is None or importlib.util.find_spec("hypothesis") is None:
            raise cosim.CosimError(
                "checks need pytest and hypothesis: pip install 'cosim-framework[testing]'"
            )
        import pytest

        cls = self.entry.cls
        if cosim.Component in cls.__mro__:
            cls(**self.values)  # a wrong parameter is said at once
        else:
            self._check_arguments(cls)
        module, kit = self._kit_names()
        if not quiet:
            arguments = ", ".join(f"{name} = {value}" for name, value in self.values.items())
            print(f"{self.entry.id}: {kit}{f' with {arguments}' if arguments else ''}", flush=True)
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"check_{self.entry.id.replace('.', '_')}.py"
            file.write_text(self._test_text(module, kit), "utf-8")
            listener = _Listener(self, quiet)
            pytest.main(_pytest_arguments(file, self.only), plugins=[listener])
            if listener.interrupt is not None:
                raise listener.interrupt
        self.seconds = time.perf_counter() - began
        if not quiet:
            counts = Counter(outcome for _, outcome, _ in self.outcomes)
            counted = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
            is_checked = self.passed or counts["failed"]
            print(f"  {counted if is_checked else 'nothing was checked'}, {self.seconds:.1f} s\n", flush=True)

    def _test_text(self, module: str, kit: str) -> str:
        """The text of a test file with a class of the kit, which makes the class that is checked."""
        return TEST.format(
            kit_module=module.rpartition(".")[0],
            kit=kit,
            id=self.entry.id,
            kind=self.entry.kinds[-1],
            values=self.values,
            kit_values=dict(getattr(self.entry.cls, "kit_values", {})),
        )

    def kit_class(self) -> type[Any]:
        """The kit with the class in it, as the checks run it; `CosimError` where it has no such class."""
        module, kit = self._kit_names()
        cls, values = self.entry.cls, self.values
        body = {"make": staticmethod(lambda **options: cls(**{**values, **options}))}
        base = getattr(importlib.import_module(module), kit)
        return type("TestIt", (base,), {**getattr(cls, "kit_values", {}), **body})

    def _kit_names(self) -> tuple[str, str]:
        module, _, kit = (self.kit or self.entry.cls.contract_kit).partition(":")
        return module, kit

    def refuse(self, error: cosim.CosimError, quiet: bool = False) -> None:
        """Count as failed that the class takes none of the values made up for it."""
        remedy = f"Give values: cosim check {self.entry.id} NAME=VALUE"
        self.outcomes.append(("values", "failed", f"{error} {remedy}"))
        if not quiet:
            print(f"{self.entry.id}: nothing was checked: {error} {remedy}\n", flush=True)

    def _check_arguments(self, cls: type) -> None:
        """`CosimError` where the class cannot be made with these values."""
        try:
            inspect.signature(cls).bind(**self.values)
        except TypeError as cause:
            name = f"cosim check {self.entry.id}"
            raise cosim.CosimError(f"{self.entry.id}: {cause}; as in `{name} NAME=VALUE`") from None

    def to_dict(self) -> dict[str, Any]:
        """Id, values, and each check with its outcome and message."""
        checks = [
            {"check": name, "outcome": outcome, "message": text} for name, outcome, text in self.outcomes
        ]
        return {
            "id": self.entry.id,
            "values": self.values,
            "passed": self.passed,
            "seconds": self.seconds,
            "checks": checks,
        }


def _pytest_arguments(file: Path, only: str) -> list[str]:
    """The command line with which pytest runs a file, whatever is configured in or beside its folder."""
    plugins = ["no:cacheprovider", "no:terminal", "no:unraisableexception"]
    folders = ["--rootdir", str(file.parent)]
    folders += ["--confcutdir", str(file.parent)]  # else it lists all that lies beside the folder
    warnings = ["-W", "ignore", "-W", "always::cosim.testing.KitWarning"]
    selected = ["-k", only] if only else []
    disabled = [word for plugin in plugins for word in ("-p", plugin)]
    return [str(file), *disabled, *folders, "-c", os.devnull, *warnings, *selected]


class _Listener:
    """Told by pytest what each check came to."""

    def __init__(self, run: KitRun, quiet: bool) -> None:
        self.run, self.quiet = run, quiet
        self.interrupt: BaseException | None = None

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        """Ctrl-C or SIGTERM, after which pytest returns; `pytest.exit` comes here, too."""
        if isinstance(excinfo.value, KeyboardInterrupt):
            self.interrupt = excinfo.value

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A check has ended, or its preparation has failed or skipped it."""
        if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
            name = report.nodeid.rpartition("::")[2].removeprefix("test_").replace("_", " ")
            text = "" if report.outcome == "passed" else _message(report)
            self._add(name, report.outcome, text)

    def pytest_warning_recorded(self, warning_message: Any) -> None:
        """Report missing parts of a docstring, and other warnings."""
        self._add("docstring", "warning", str(warning_message.message))

    def pytest_collectreport(self, report: Any) -> None:
        """The class, or its kit, cannot even be imported."""
        if report.failed:
            self._add("import", "failed", _message(report))

    def _add(self, name: str, outcome: str, text: str) -> None:
        self.run.outcomes.append((name, outcome, text))
        if not self.quiet:
            sign = {"passed": "ok", "failed": "FAILED", "skipped": "--"}.get(outcome, outcome)
            print(f"  {sign:<8}{name}{': ' + text if text else ''}", flush=True)


def _message(report: Any) -> str:
    """Why a check failed, or was skipped, in one line."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message if crash is not None else report.longrepr)
    return re.sub(r"^(AssertionError|Failed): ", "", text).partition("\nassert ")[0].strip()


def _needed(cls: type[Any]) -> dict[str, Any]:
    """A number for each parameter that has to be given."""
    numbers: dict[str, Any] = {}
    for declaration in getattr(cls, "declarations", {}).values():
        if declaration.kind == "parameter" and declaration.start is None:
            least = 0.0 if declaration.minimum is None else declaration.minimum
            most = least + 2.0 if declaration.maximum is None else declaration.maximum
            number = 0.5 * (least + most)
            shape = declaration.shape
            numbers[declaration.name] = number if not shape else [number] * (declaration.size or 2)
    return numbers
