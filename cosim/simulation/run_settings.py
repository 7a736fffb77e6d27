"""What is wrong with the settings of a run, found before anything is built or compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cosim.errors import ModelError, Problem
from cosim.options import check_callable, seconds
from cosim.simulation.chosen_integrator import DEFAULT, integrator_options, made_integrator
from cosim.simulation.simulate import PROGRESS_GETS, check_signals, check_simulate_options, end_of_run


def faults_of_settings(settings: Mapping[str, Any]) -> list[Problem]:
    """All faults of the settings of a run that can be told without its system.

    Raises
    ------
    OptionError
        A setting that a run does not have.
    LookUpError
        No such integrator.
    """
    integrator = settings.get("integrator", DEFAULT)
    check_simulate_options("simulate()", settings, integrator)
    names = [name for name in integrator_options(integrator) if name != "accuracy"]
    own = {name: settings[name] for name in names if name in settings}
    problems: list[Problem] = []

    def collect(check: Callable[[], object]) -> None:
        try:
            check()
        except ModelError as error:
            problems.extend(error.problems)

    collect(lambda: end_of_run(settings.get("until")))
    collect(lambda: seconds(settings.get("output_interval") or 1.0, "output_interval"))
    collect(lambda: check_signals(settings.get("signals")))
    collect(lambda: check_callable(settings.get("progress"), "progress", PROGRESS_GETS))
    collect(lambda: made_integrator(integrator, settings.get("accuracy"), own))
    return problems
