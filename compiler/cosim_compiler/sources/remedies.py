"""What a kernel function cannot use, and what to write in its place: the texts of refusals."""

from __future__ import annotations

import ast
import difflib

from cosim_compiler import functions
from cosim_compiler.debugging import VARIABLE

FORBIDDEN: dict[type[ast.AST], str] = {
    ast.List: "a list; small vectors are tuples: (x, y, z)",
    ast.ListComp: "a list comprehension; write a loop over results: for i in range(3): x[i] = …",
    ast.Dict: "a dict; write names, or a tuple and its places",
    ast.DictComp: "a dict comprehension; write a loop over results: for i in range(3): x[i] = …",
    ast.Set: "a set; write a tuple: x in (1, 2)",
    ast.SetComp: "a set comprehension; write a loop",
    ast.GeneratorExp: "a generator; write a loop",
    ast.Lambda: "a lambda; write a module-level helper function",
    ast.Try: "try; test before you compute",
    ast.With: "with; open and read before the run, into a parameter",
    ast.JoinedStr: 'an f-string; the text of an exception is constant: ValueError("too large")',
    ast.Yield: "yield; write into an argument, or return a number",
    ast.YieldFrom: "yield; write into an argument, or return a number",
    ast.Await: "await; it waits for nothing",
    ast.FunctionDef: "a nested function; write a module-level helper function",
    ast.AsyncFunctionDef: "a nested function; write a module-level helper function",
    ast.ClassDef: "a class; small vectors are tuples: (x, y, z)",
    ast.Global: "global; a kernel function is pure",
    ast.Nonlocal: "nonlocal; a kernel function is pure",
    ast.Import: "import; import at the top of the file",
    ast.ImportFrom: "import; import at the top of the file",
    ast.Delete: "del; leave it out",
    ast.Match: "match; write if and elif",
    ast.NamedExpr: "`:=`; give the name its value on a line before",
}
BUILTINS = (
    "abs", "bool", "divmod", "enumerate", "float", "int", "len", "max", "min", "range", "round", "sum", "zip",
)  # fmt: skip
IN_MATH = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "degrees",
    "e", "erf", "erfc", "exp", "expm1", "fabs", "floor", "fmod", "frexp", "gamma", "gcd", "hypot", "inf",
    "isfinite", "isinf", "isnan", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "modf", "nan", "pi",
    "pow", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "tau", "trunc",
)  # fmt: skip
"""The names in `math` that the compiler knows."""
ADVICE = {
    "print": f"print; set {VARIABLE}=1: there print() and breakpoint() work",
    "breakpoint": f"breakpoint(); set {VARIABLE}=1: there print() and breakpoint() work",
    "pow": "pow(); write math.pow(x, y)",
    "sorted": "sorted(), which makes a list",
    "list": "list(); small vectors are tuples: (x, y, z)",
    "dict": "dict(); write names, or a tuple and its places",
    "isinstance": "isinstance(); each name has one kind here: leave the test out",
    "type": "type(); each name has one kind here: leave the test out",
    "any": "any(); write a loop, or conditions with or",
    "all": "all(); write a loop, or conditions with and",
    "map": "map(); write a loop",
    "filter": "filter(); write a loop",
    "reversed": "reversed(); write range(n - 1, -1, -1)",
    "eval": "eval(); write the expression itself",
    "exec": "exec(); write the statements themselves",
    "set": "set(); write a tuple: x in (1, 2)",
    "str": "text",
    "input": "input(); it has no user",
    "open": "files; read them before the run, into a parameter",
    "super": "super(); call a module-level helper function",
}
METHODS = {
    "sum": "write a loop: total += x[i]",
    "mean": "write a loop: total += x[i], and divide by len(x)",
    "min": "write min(x), or a loop",
    "max": "write max(x), or a loop",
    "fill": "write a loop: for i in range(…): x[i] = …",
    "copy": "write a loop: for i in range(…): y[i] = x[i]",
    "dot": "write dot(a, b), or matmul(a, b, out): from cosim.functions import dot, matmul",
    "T": "write transpose(a, out): from cosim.functions import transpose",
    "append": "the length of a view is fixed: write into a place of it, x[i] = …",
    "real": "it is real: leave it out",
}
"""By the name of a method or attribute of NumPy's arrays: what to write in its place."""
NO_METHODS = "numbers, tuples and views have no methods here"
SAME = {
    "abs": "abs(x)",
    "absolute": "abs(x)",
    "minimum": "min(x, y)",
    "maximum": "max(x, y)",
    "power": "math.pow(x, y)",
    "arctan2": "math.atan2(y, x)",
    "arctan": "math.atan(x)",
    "arcsin": "math.asin(x)",
    "arccos": "math.acos(x)",
    "array": "a tuple, (x, y, z)",
    "asarray": "a tuple, (x, y, z)",
    "eye": "zeros((n, n)), and its diagonal in a loop",
    "cross": "the three differences of products",
    "float64": "float(x)",
}
"""By a name of NumPy that is neither in `math` nor in `cosim.functions`: what it is here."""
SWAPPED = 0.7
"""The similarity of names that counts as a slip: two swapped letters of four leave more."""


def of_numpy(name: str) -> str:
    """What to write in place of a name of NumPy."""
    if name in functions.__all__:
        call = f"{name}(a, b, out)" if name in ("matmul", "solve") else f"{name}(…)"
        return f"write {call}: from cosim.functions import {name}"
    if name in SAME:
        return f"write {SAME[name]}"
    if name in IN_MATH:
        return f"write math.{name}"
    near = difflib.get_close_matches(name, [*functions.__all__, *SAME, *IN_MATH], 1, SWAPPED)
    return "use math, or a loop" + "".join(
        f"; nearest: {near_name} ({of_numpy(near_name)})" for near_name in near
    )
