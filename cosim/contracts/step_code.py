"""The outcomes of a step, and the reasons why it ends where it does."""

from __future__ import annotations

from enum import IntEnum

from cosim.contracts import method_layout as layout


class StepCode(IntEnum):
    """The outcome of a step. Unless it is DONE, the State is what it was before the step."""

    DONE = layout.DONE
    NOT_FINITE = layout.NOT_FINITE
    MINIMUM_STEP = layout.MINIMUM_STEP
    BLOCK_FAILED = layout.BLOCK_FAILED
    NOT_INITIALIZED = layout.NOT_INITIALIZED
    NO_CONVERGENCE = layout.NO_CONVERGENCE
    CONSTRAINTS_NOT_MET = layout.CONSTRAINTS_NOT_MET

    @property
    def sentence(self) -> str:
        """The outcome and, where there is one, its remedy, for people."""
        return _SENTENCES[self]


class StepReason(IntEnum):
    """The reason why an accepted step ended where it did.

    METHOD: error control, or the fixed step. TARGET: `t_stop`, reached exactly. LIMIT: the `limit` of this
    one step. KINK: a component is not smooth there (its slot ``smooth_until``). MAXIMUM: `maximum_step`.
    """

    METHOD = layout.BY_METHOD
    TARGET = layout.BY_TARGET
    LIMIT = layout.BY_LIMIT
    KINK = layout.BY_KINK
    MAXIMUM = layout.BY_MAXIMUM


_SENTENCES = {
    StepCode.DONE: "The step was taken.",
    StepCode.NOT_FINITE: "A state or a derivative is infinite or not a number: look for a division "
    "by zero, a solution that ends here, or a fixed step that is too long.",
    StepCode.MINIMUM_STEP: "The accuracy would need a step smaller than the smallest one allowed: "
    "loosen the accuracy, lower minimum_step, or look for a jump that should be an event.",
    StepCode.BLOCK_FAILED: "A component could not be evaluated.",
    StepCode.NOT_INITIALIZED: "The integrator's memory in the State is empty: call initialize first.",
    StepCode.NO_CONVERGENCE: "The equations of an implicit step could not be solved: shorten the fixed step, "
    "or look for a jump that should be an event.",
    StepCode.CONSTRAINTS_NOT_MET: "The end of a step could not be corrected to meet the constraints: shorten "
    "the fixed step, or look for a pose that the mechanism cannot leave and for constraints that contradict "
    "each other.",
}
