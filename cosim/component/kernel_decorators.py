"""Decorators of kernel functions: `kernel` and `update`."""

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
        At the earliest here, for results that nothing else needs (``Stage.REPORT``); or the name of an
        option that says it, in small letters.
    when, unless : str, optional
        What has to be true (false): the name of an option or of a condition of the component
        (`Component.conditions`), or of a derivative, ``"source_dot"``: the source has one; or
        ``"source_state"``: the source is a state; or a name that an attachment offers, if it exists
        (`Attachment.has`).
    refuses : sequence of str, optional
        Makes it a check of the component's parameters, which is all that it may ask for: it returns 0 where
        they fit together, else the number (from 1) of the sentence that says what is wrong. An FMU answers
        with that sentence where the values are set, and keeps the old ones.

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
        raise ContractError(f"{class_line()}: kernel: refuses is a list of sentences")
    if not isinstance(refuses, tuple) and not refuses:
        raise ContractError(f"{class_line()}: kernel: refuses is empty: write a sentence, or leave it out")
    if refuses:
        sentences = tuple(refuses)
        return lambda f: KernelFunction(
            plain_function(f), "check", when=when, unless=unless, refuses=sentences
        )
    if stage is not None and not isinstance(stage, (str, Stage)):
        raise ContractError(
            f"{class_line()}: kernel: stage is {quote(stage)}, needs a Stage, as in Stage.REPORT"
        )
    if function is None:
        return lambda f: KernelFunction(plain_function(f), stage=stage, when=when, unless=unless)
    return KernelFunction(plain_function(function))


@options_checked
def update(
    function: Callable[..., Any] | None = None, *, at: str = "end", when: str = "", unless: str = ""
) -> Any:
    """Mark an auto-update: it runs when a step has ended, with everything realized.

    Besides the usual names it may ask for ``side``: 0.0 for the values before the events of the
    instant, 1.0 for those after, 2.0 for those after a delayed break has arrived; and for ``smoothness``,
    the least order of the derivatives that may jump on the other side although nothing shows it. It
    may write to histories, and to ``<name>_next`` of a discrete variable, which is swapped in
    afterwards; the State then drops below the stage that the variable declares. Calling it again for
    the same time and side must have no further effect.

    Parameters
    ----------
    at : str
        "end"; "inside": for points inside the step that has ended, on the integrator's dense output, in
        order of time, before those for the end (`side` is -1): histories that keep more than the ends
        of steps; "ahead": while a step is taken again, for its end as the attempt before had it
        (`side` is 0): histories that the step itself looks into; "between": for times inside the step that
        has ended (`side` is -1/2) and before them for its end (`side` is 0), where `smoothness` is how far
        the history may be off: histories of signals that the integrator does not integrate
        (`cosim_measures.histories.refine_history`). First `side` may be -1/4: whether the time is needed
        is asked, and derivatives of sources are not there yet.
    when, unless : str, optional
        As for `kernel`.
    """
    if at not in UPDATES_AT:
        raise ContractError(f"{class_line()}: update: at='{at}', needs one of {', '.join(UPDATES_AT)}")
    if function is None:
        return lambda f: KernelFunction(plain_function(f), role="update", at=at, when=when, unless=unless)
    return KernelFunction(plain_function(function), role="update")
