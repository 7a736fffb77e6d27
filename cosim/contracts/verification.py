"""A second opinion about a run: what `cosim.verify` promises, whoever gives it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cosim.registration.kinds import plugin_kind
from cosim.registration.registry import registry

if TYPE_CHECKING:
    Model = Any
    Result = Any
    System = Any

CHOSEN = "workbench.second_opinion"
"""Id of what gives it."""


@plugin_kind("verification")
class Verification(ABC):
    """A run beside others of the same model that ought to be the same.

    Attributes
    ----------
    runs, set_aside : list
        Those that are compared, the one that was asked for first; and those that are not: the same with a
        smaller tolerance is among `runs`, and agrees with them. Each has a `name`, a `method` in words, its
        `result` and why it failed, `failure`.
    agreements : list
        One for each signal and element, in the order in which they were recorded: `signal`, `digits` to which
        all agree, the `odd` run without which the others agree better, and then, `digits_without`.
    expected : float
        Digits below which a signal is in doubt.
    """

    runs: list[Any]
    set_aside: list[Any]
    agreements: list[Any]
    expected: float

    @classmethod
    @abstractmethod
    def of(
        cls, model: Model, system: System, result: Result | None, settings: Mapping[str, Any]
    ) -> Verification:
        """Run the model, from which the system was built, again; see `verify`."""

    @property
    @abstractmethod
    def doubtful(self) -> list[Any]:
        """Agreements to fewer digits than the accuracy lets expect."""

    @property
    @abstractmethod
    def is_confirmed(self) -> bool:
        """Whether every run came to its end, with the same events, and no signal is in doubt."""

    @property
    @abstractmethod
    def verdict(self) -> str:
        """One sentence; `str` gives the whole report."""


def verify(model: Model, result: Result | None = None, **settings: Any) -> Verification:
    """Run a model again, in ways that ought to come to the same, and compare.

    The runs are: as given; with a tenth of the tolerance (of a fixed step the half); with another method,
    that of the highest order among those that are as implicit; and, with constraints, with another dynamics
    solver. Where the other method alone is off, it runs once more with a tenth of its tolerance: methods of
    high orders step over short contacts and kinks. If then all agree, the first of its runs is set aside.

    Parameters
    ----------
    model : Model
    result : Result, optional
        Of the run as given, where there is one already.
    **settings
        As for `cosim.simulate`.

    Returns
    -------
    Verification

    Raises
    ------
    SimulationError
        The run as given fails.
    """
    made: type[Verification] = registry().get("verification", CHOSEN)
    return made.of(model, model._system(), result, settings)
