"""Units as people write them, as unit expressions."""

from __future__ import annotations

import functools
import re

from cosim.errors import UnitError
from cosim.unit_expressions import UnreadError, find_symbol, read_unit
from cosim.unit_symbols import PREFIXES, RUN_TOGETHER, SYMBOLS, WORDS

_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻·⋅×*−μ", "0123456789-....-µ")
_SPELLED = {"**": "^", "°C": "degC", "°F": "degF", "°": "deg", "√": "sqrt", "Ω": "Ohm"}


@functools.lru_cache(maxsize=1024)
def written_unit(text: str) -> str:
    """The unit expression that is meant by a unit as people write it.

    Products with ``*``, ``·`` or a space, powers with ``^``, ``**`` or ``²``, roots as ``sqrt(Hz)``,
    ``Hz^0.5`` or ``Hz0.5``, several divisions, whole words and their plurals, and two symbols run together
    where only one product can be meant (``Nm``). What can be meant in two ways is left as it is, and is an
    error.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        An expression that `parse_unit` reads; the text as it was where none can be made of it.

    Examples
    --------
    >>> written_unit("kg*m^2"), written_unit("m/s/s"), written_unit("lbf ft"), written_unit("kNm")
    ('kg.m2', 'm/(s.s)', 'lbf.ft', 'kN.m')
    >>> written_unit("inches"), written_unit("m/sqrt(s)"), written_unit("deg / s")
    ('in', 'm/s^(1/2)', 'deg/s')
    """
    if not text or _is_read(text):
        return text
    meant = text
    for spelled, plain in _SPELLED.items():
        meant = meant.replace(spelled, plain)
    meant = re.sub(r"\s+per\s+", "/", meant)
    meant = re.sub(r"\s*([./()^])\s*", r"\1", meant.translate(_PLAIN).strip())
    meant = re.sub(r"\s+|(?<=[^\W\d_])-(?=[^\W\d_])", ".", meant)
    meant = re.sub(r"\bsqrt\(([^\W\d_]+)\)", r"\1^(1/2)", meant)
    meant = re.sub(r"\bsqrt(\([^()]*\))", r"\1^(1/2)", meant)
    meant = re.sub(r"(?<=[^\W\d_])(?=[+-]?\d+\.5(?!\d))", "^", meant)
    meant = re.sub(r"\^\(([+-]?\d*\.5)\)", r"^\1", meant)
    meant = re.sub(r"\^([+-]?)(\d*)\.5", lambda m: f"^({m[1]}{2 * int(m[2] or 0) + 1}/2)", meant)
    meant = re.sub(r"\^\(([+-]?\d+)\)|\^([+-]?\d+)", lambda m: m[1] or m[2], meant)
    meant = re.sub(r"[^\W\d_]+", lambda m: _written_symbol(m[0]), meant)
    first, *divisors = meant.split("/") if "(" not in meant else [meant]
    if len(divisors) > 1 and not any("." in divisor for divisor in divisors):
        meant = f"{first}/({'.'.join(divisors)})"
    meant = re.sub(r"^\(([^()]*)\)$", r"\1", meant)
    return meant if _is_read(meant) else text


def _is_read(text: str) -> bool:
    """Whether it is a unit expression."""
    try:
        read_unit(text)
    except (UnitError, UnreadError):
        return False
    return True


def _written_symbol(word: str) -> str:
    """The symbol for a word, or the product of two that are run together; else the word."""
    if find_symbol(word):
        return word
    small = word.lower()
    singular = small[:-1] if small.endswith("s") and len(small) > 3 else small
    symbol = WORDS.get(word) or WORDS.get(small) or WORDS.get(singular)
    if symbol is None:
        products = _products(word)
        symbol = products[0] if len(products) == 1 and _is_run_together(products[0]) else word
    return f"({symbol})" if re.search(r"[./]", symbol) else symbol


def _is_run_together(product: str) -> bool:
    """Whether people write the first symbol of a product without a dot behind it: Nm, Pas."""
    first = find_symbol(product.partition(".")[0])
    return first is not None and first[0] in RUN_TOGETHER


def _products(word: str) -> list[str]:
    """All products of symbols that letters run together can be; no symbol follows itself."""
    products = []
    for length in range(1, len(word)):
        first, remainder = word[:length], word[length:]
        if find_symbol(first):
            products += [f"{first}.{remainder}"] if find_symbol(remainder) else []
            products += [f"{first}.{product}" for product in _products(remainder)]
    return [product for product in products if not re.search(r"(?:^|\.)([^.]+)\.\1(?:\.|$)", product)]


def other_cases(word: str) -> list[str]:
    """Symbols that differ from a word in small and capital letters alone: kg for Kg, mW and MW for mw."""
    prefixed = [f"{p}{symbol}" for symbol, (_, _, takes) in SYMBOLS.items() if takes for p in PREFIXES]
    return [symbol for symbol in (*SYMBOLS, *prefixed) if symbol.lower() == word.lower() and symbol != word]
