"""What can be wrong with a call of an FMU."""

from __future__ import annotations

STATUS = ("ok", "warning", "discard", "error", "fatal", "pending")
OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)


class FmiError(Exception):
    """A call that failed, was not allowed, or is missing in the library.

    Attributes
    ----------
    function : str
        Name of the C function, "" where none is meant.
    status : int or None
        What it returned.
    """

    def __init__(self, text: str, function: str = "", status: int | None = None) -> None:
        self.function, self.status = function, status
        super().__init__(text)

    @classmethod
    def of_status(cls, function: str, status: int) -> FmiError:
        """The function returned a status that is worse than a warning."""
        if status == PENDING:
            text = "returned pending, but asynchronous steps are not supported"
        else:
            text = f"failed with status {STATUS[status] if 0 <= status < len(STATUS) else status}"
        return cls(text, function, status)


def is_fatal(error: BaseException | None) -> bool:
    """Whether a call answered *fatal*: no instance of the FMU in this process is to be trusted any more."""
    while error is not None and not (isinstance(error, FmiError) and error.status == FATAL):
        error = error.__cause__
    return error is not None


class MissingFunctionError(FmiError):
    """The library does not export a function."""

    def __init__(self, function: str) -> None:
        super().__init__("the library does not export this function", function)


class CallOrderError(FmiError):
    """The standard does not allow the call in the mode that the instance is in."""

    def __init__(self, function: str, mode: str) -> None:
        super().__init__(f"is not allowed while the instance is {mode}", function)
