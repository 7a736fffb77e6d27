"""A second opinion about a run: what `cosim.verify` promises, whoever gives it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cosim.attributes import FixedAttributes
from cosim.errors import ModelError
from cosim.registration.kinds import plugin_kind
from cosim.registration.registry import registry

if TYPE_CHECKING:
    Model = Any
    Result = Any
    System = Any

CHOSEN = "workbench.second_opinion"
"""Id of the plugin that runs the comparison."""


@plugin_kind("verification")
class Verification(FixedAttributes):
    """A run beside others of the same model that ought to be the same.

    Attributes
    ----------
    runs, set_aside : list
        The runs that are compared, the one as given first; and runs that are not compared, since the same run
        with a smaller tolerance is among `runs` and agrees with them. Each has a `name`, a `method` in words,
        its `result` and why it failed, `failure`.
    agreements : list
        One for each signal and element, in the order in which they were recorded, and one for the times of
        each handler's events where these differ. Each has the `signal`; `digits`, relative to its largest
        value, to which all runs agree; the `odd` run without which the others agree better, and to how many
        digits, `digits_without`; `digits_at_end`, relative to the size that the signal has at the end; and
        `standing`, the conclusion in words.
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
        """Agreements to fewer digits than the accuracy promises."""

    @property
    @abstractmethod
    def outcome(self) -> str:
        """The class of the verdict.

        "confirmed", "not confirmed" (the runs differ, or one failed), or "sensitive": what differs follows
        from the start when that is moved by rounding or by an accuracy.
        """

    @property
    @abstractmethod
    def is_confirmed(self) -> bool:
        """Whether all runs came to their ends, with the same events, and no signal is in doubt."""

    @property
    @abstractmethod
    def verdict(self) -> str:
        """The outcome in one sentence; `str` gives the whole report."""


def verify(model: Model, result: Result | None = None, **settings: Any) -> Verification:
    """Run a model again, in ways that ought to give the same result, and compare.

    The runs are:

    - as given;
    - with a tenth of the tolerance, or with half of a fixed step;
    - with another method: that of the highest order among those that are as implicit;
    - with shorter steps, which find events that a longer step leaps over;
    - for models with constraints, with another dynamics solver;
    - from starts that are moved by rounding, up and down, which finds events that depend on it;
    - where the model has witnesses, or signals differ, from starts that are moved by an accuracy, up and
      down: differences between these two belong to the problem, not to a method.

    Where the other method alone is off, it runs once more with a tenth of its tolerance: methods of high
    orders step over short contacts and kinks. If then all agree, the first of its runs is set aside.

    A signal is confirmed where the runs agree along the run to ten accuracies of its largest value (more,
    where the problem itself multiplies small errors by more), and at the end to two digits of the size that
    it has there. Counts and modes have to be equal, and the same events to happen.

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
    ModelError
        What is given is not a model.
    SimulationError
        The run as given fails.
    """
    if not hasattr(model, "build"):
        raise ModelError.of("cosim.verify", f"needs a Model, not a {type(model).__name__}")
    verification: type[Verification] = registry().get("verification", CHOSEN)
    return verification.of(model, model._system(), result, settings)
