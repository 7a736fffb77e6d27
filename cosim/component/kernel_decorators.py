"""The decorators `kernel` and `update`, which make kernel functions of plain ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cosim.component.class_line import class_line
from cosim.component.kernel_function import UPDATES_AT, KernelFunction, plain_function
from cosim.errors import ContractError
from cosim.options import options_checked
from cosim.stage import Stage
from cosim.value_text import quote


@options_checked
def kernel(
    function: Callable[..., Any] | None = None,
    *,
    stage: Stage | str | None = None,
    when: str = "",
    unless: str = "",
    refuses: Sequence[str] = (),
) -> Any:
    """Mark a function in a component's class body as a kernel function.

    Parameters
    ----------
    stage : Stage or str, optional
        The earliest stage at which it is called: ``Stage.REPORT`` for results that nothing else needs. Or the
        name of the component's option that holds the stage, in small letters.
    when, unless : str, optional
        The function is used only if this is true (false). It is the name of

        - an option, or a condition of the component (`Component.conditions`);
        - the derivative of a source: ``"source_dot"`` is true if the source has one;
        - ``"source_state"``: true if the source is a state;
        - something that an attachment offers (`Attachment.has_offer`): true if it exists.
    refuses : sequence of str, optional
        Sentences: the function then checks the component's parameters, and takes nothing else. It returns 0
        if they fit together, else the number, from 1, of the sentence that says what is wrong. An FMU answers
        with that sentence when the values are set, and keeps the old ones.

    Examples
    --------
    >>> import cosim
    >>> class Clamp(cosim.Component):
    ...     '''Has two ends.'''
    ...     lower = cosim.parameter(default=0.0)
    ...     upper = cosim.parameter(default=1.0)
    ...     @cosim.kernel(refuses=["the lower end is above the upper one: exchange them"])
    ...     def order(lower, upper):
    ...         return 1.0 if lower > upper else 0.0
    """
    if isinstance(refuses, str) or not all(isinstance(text, str) and text.strip() for text in refuses):
        raise ContractError(f"{class_line()}: kernel: refuses is {quote(refuses)}, needs a list of sentences")
    if not isinstance(refuses, tuple) and not refuses:
        raise ContractError(f"{class_line()}: kernel: refuses is empty: write a sentence, or omit it")
    if stage is not None and not isinstance(stage, (str, Stage)):
        raise ContractError(
            f"{class_line()}: kernel: stage is {quote(stage)}, needs a Stage, as in Stage.REPORT"
        )

    def marked(plain: Callable[..., Any]) -> KernelFunction:
        role = "check" if refuses else "kernel"
        return KernelFunction(
            plain_function(plain), role, stage, when=when, unless=unless, refuses=tuple(refuses)
        )

    return marked if function is None else marked(function)


@options_checked
def update(
    function: Callable[..., Any] | None = None, *, at: str = "end", when: str = "", unless: str = ""
) -> Any:
    """Mark an auto-update: it runs when a step has ended, with everything realized.

    An auto-update may write to histories, and to ``<name>_next`` of a discrete variable. That value is
    swapped in afterwards, and the State then drops below the stage that the variable declares. A second call
    for the same time and side must have no further effect.

    Besides the usual names it may ask for `side` and `smoothness`. ``side`` says which values it sees:

    ===== ================== ====================================================
    side  at                 values
    ===== ================== ====================================================
    0.0   "end"              at the end of the step, before the events there
    0.0   "ahead", "between" at the end of the step
    1.0   "end"              after the events of the instant
    2.0   "end"              after a delayed break has arrived
    -1.0  "inside"           at a point inside the step
    -0.5  "between"          at a time inside the step
    -0.25 "between"          as -0.5, but without the derivatives of sources: the
                             call only asks whether the time is needed
    ===== ================== ====================================================

    ``smoothness`` is the least order of the derivatives that may jump on the other side although nothing
    shows it; with "between" it is how far the history may be off.

    Parameters
    ----------
    at : str
        For which times it is called, on the integrator's dense output where these are inside the step:

        - "end": the end of the step that has ended.
        - "inside": points inside that step, in order of time, before the updates at its end. For histories
          that store more than the ends of steps.
        - "between": the end of that step, then times inside it, as far as a history needs them. For histories
          of signals that the integrator does not integrate (`cosim_measures.histories.refine_history`).
        - "ahead": while a step is repeated, its end as the attempt before had it. For histories that the
          step itself reads.
    when, unless : str, optional
        As for `kernel`.
    """
    if at not in UPDATES_AT:
        raise ContractError(f"{class_line()}: update: at='{at}', needs one of {', '.join(UPDATES_AT)}")

    def marked(plain: Callable[..., Any]) -> KernelFunction:
        return KernelFunction(plain_function(plain), "update", when=when, unless=unless, at=at)

    return marked if function is None else marked(function)
