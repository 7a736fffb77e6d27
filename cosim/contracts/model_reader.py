"""The contract of readers of model files."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cosim.attributes import AbstractClosedAttributes
from cosim.errors import ContractError
from cosim.registration.kinds import plugin_kind

if TYPE_CHECKING:
    Model = Any


@plugin_kind("model_reader")
class ModelReader(AbstractClosedAttributes):
    r"""Makes a `Model` of a file; `Model.from_file` finds it by the ending of the name.

    A plugin registers the class; it is instantiated without
    arguments for every file.

    Attributes
    ----------
    suffixes : tuple of str
        Endings of the files that it reads, in lower case, with the dot.

    Raises
    ------
    ContractError
        When a class that implements `read` has no valid `suffixes`.

    Examples
    --------
    >>> class Listing(ModelReader):
    ...     '''A line for each part: its id and its name.'''
    ...     suffixes = (".parts",)
    ...     def read(self, path):
    ...         import cosim
    ...         model = cosim.Model(path.stem)
    ...         for line in path.read_text("utf-8").splitlines():
    ...             model.add(*line.split())
    ...         return model
    """

    suffixes: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if getattr(cls.read, "__isabstractmethod__", False):
            return
        endings = cls.suffixes
        if not isinstance(endings, tuple) or not endings or not all(map(_is_suffix, endings)):
            raise ContractError(
                f"model reader {cls.__qualname__}: suffixes is {endings!r}, needs a tuple of endings in "
                'lower case with the dot: write suffixes = (".toml",) in the class.'
            )

    @abstractmethod
    def read(self, path: Path) -> Model:
        """The model of a file.

        Its `Model.build` may be that of a subclass which says where in the file a fault stands.

        Raises
        ------
        ModelError
            All faults of the file together, each with its line; also when it cannot be read.
        """


def _is_suffix(text: Any) -> bool:
    return isinstance(text, str) and len(text) > 1 and text.startswith(".") and text == text.lower()
