"""Joint: Model Exchange FMUs as one system under one integrator."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, cast

import cosim
from cosim.kit import Exchange, accuracy_fault
from cosim_master.algorithms.programmed_algorithm import create_algorithm

SIMULATOR_OPTIONS = ("endless_events", "final_time")


def check_options(integrator: str, options: Mapping[str, Any]) -> None:
    """Raise an error for options that an integrator does not have.

    Parameters
    ----------
    integrator : str
        Its id.
    options : mapping of str to object
        For its constructor, ``accuracy`` among them, and for the simulator.

    Raises
    ------
    ModelError
        Listing every fault.
    LookUpError
        There is no such integrator.

    Examples
    --------
    >>> check_options("integrators.runge_kutta_4", {"fixed_stp": 1e-3})
    Traceback (most recent call last):
        ...
    cosim.errors.ModelError: options.fixed_stp: no option 'fixed_stp'. Nearest: fixed_step.
    """
    kind = cosim.registry().get("integrator", integrator)
    common = inspect.signature(cosim.Integrator).parameters
    of_kind = [p.name for p in inspect.signature(kind).parameters.values() if p.kind is p.KEYWORD_ONLY]
    option_names = dict.fromkeys(("integrator", *common, *of_kind, *SIMULATOR_OPTIONS))
    unknown = [name for name in options if name not in option_names]
    if unknown:
        raise cosim.ModelError(
            [
                cosim.Problem(f"options.{n}", str(cosim.LookUpError("option", n, option_names)))
                for n in unknown
            ]
        )
    kind(**{name: value for name, value in options.items() if name not in SIMULATOR_OPTIONS})


class Joint(cosim.MasterAlgorithm):
    """All Model Exchange FMUs are one system, which one integrator solves; the others are coupled with it.

    Connections between Model Exchange FMUs are evaluated with every evaluation of their derivatives. So they
    have no coupling error, only that of the integrator. Closed loops of direct feedthrough between them are
    solved; an event of one reaches the others at the same instant. The algorithm `others` steps the system as
    one participant, together with the other participants.

    Parameters
    ----------
    integrator : str, optional
        Id of an integrator; by default that of the FMUs' own options if they agree, else
        "integrators.runge_kutta_merson".
    accuracy : float, optional
        The accuracy of the integration; by default the smallest of the FMUs, else the tolerance, else 1e-6.
    members : sequence of str, optional
        The participants that are solved jointly; by default all FMUs that offer Model Exchange.
    others : str
        Algorithm between the system and the other participants.
    others_options : mapping of str to object
        For that algorithm.
    integrator_options : mapping of str to object
        ``maximum_step`` …
    """

    contract_kit = ""  # the kit has no Model Exchange FMUs

    def __init__(
        self,
        integrator: str | None = None,
        accuracy: float | None = None,
        members: Sequence[str] | None = None,
        others: Any = "gauss_seidel",
        others_options: Mapping[str, Any] | None = None,
        integrator_options: Mapping[str, Any] | None = None,
    ) -> None:
        faults = _faults(integrator, accuracy, members, others, others_options, integrator_options)
        inner = None
        if not faults:
            inner, problems = create_algorithm(others, others_options or {})
            faults = [
                cosim.Problem("others_options" if fault.key[2:] else "others", fault.text)
                for fault in problems
            ]
        if faults:
            raise cosim.ModelError(faults)
        self.integrator, self.accuracy = integrator, accuracy
        self.members = None if members is None else tuple(members)
        self.integrator_options = dict(integrator_options or {})
        self.others = cast(cosim.MasterAlgorithm, inner)
        self.exchanges_within_step = self.others.exchanges_within_step
        self.solves_loops, self.restores = self.others.solves_loops, self.others.restores
        self.fixed_sequence, self.order = self.others.fixed_sequence, self.others.order

    @property
    def varies_step(self) -> bool:  # type: ignore[override]
        """Whether the algorithm for the others varies the step."""
        return self.others.varies_step

    def tightened(self) -> cosim.MasterAlgorithm | None:
        """The algorithm with a tenth of the tolerance of the algorithm for the others, if that has one."""
        inner = self.others.tightened()
        if inner is None:
            return None
        return Joint(
            self.integrator, self.accuracy, self.members, inner, integrator_options=self.integrator_options
        )

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Initialize the algorithm of the other participants."""
        self.others.initialize(exchange, time)

    @property
    def about(self) -> str:
        """The description of the algorithm for the others."""
        return self.others.about

    def course_of_inputs(self, stepped: bool) -> str:
        """The course of an input by the algorithm for the others."""
        return self.others.course_of_inputs(stepped)

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """The step of the algorithm for the others, to which the system is one participant."""
        self.others.step(exchange, time, size)

    @property
    def figures(self) -> dict[str, float]:
        """The figures of the algorithm for the others."""
        return self.others.figures


def _faults(
    integrator: Any, accuracy: Any, members: Any, others: Any, others_options: Any, integrator_options: Any
) -> list[cosim.Problem]:
    faults = []

    def report(name: str, value: Any, need: str) -> None:
        faults.append(cosim.Problem(name, f"is {value!r}, needs {need}"))

    if integrator is not None and not isinstance(integrator, str):
        report("integrator", integrator, 'the id of an integrator: "integrators.runge_kutta_merson"')
    if accuracy is not None and (fault := accuracy_fault(accuracy)):
        faults.append(cosim.Problem("accuracy", fault))
    is_list = isinstance(members, Sequence) and not isinstance(members, str)
    if members is not None and not (is_list and members and all(isinstance(name, str) for name in members)):
        report("members", members, 'names of participants: ["plant", "wheel"]')
    for name, options in (("others_options", others_options), ("integrator_options", integrator_options)):
        if options is not None and not isinstance(options, Mapping):
            report(name, options, "a table")
    if others in ("joint", "fmu.joint") or isinstance(others, Joint) or others is Joint:
        report("others", "joint", 'another algorithm: "gauss_seidel"')
    if faults:
        return faults
    try:
        kind = integrator or "integrators.runge_kutta_merson"
        check_options(
            kind, {**(integrator_options or {}), **({} if accuracy is None else {"accuracy": accuracy})}
        )
    except cosim.LookUpError as error:
        faults.append(cosim.Problem("integrator", str(error)))
    except cosim.ModelError as error:
        faults += [
            cosim.Problem(
                "accuracy" if fault.where.endswith("accuracy") else "integrator_options", fault.text
            )
            for fault in error.problems
        ]
    return faults
