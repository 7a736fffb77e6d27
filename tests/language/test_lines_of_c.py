"""The lines of C: which statements are joined in one line, and which are not."""

from __future__ import annotations

import pytest

from cosim_compiler.language.program import Program
from cosim_compiler.language.simplifier import Simplifier
from cosim_compiler.printers.c_lines import LONGEST, compact, named_once, unpacked, with_last_status
from cosim_compiler.printers.c_names import Types
from cosim_compiler.printers.plain_text import shown
from cosim_compiler.record import Record


def lines(text: str) -> list[str]:
    return text.strip("\n").split("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    if (a) {\n        x = 1;\n    }", "    if (a) x = 1;"),
        ("    if (a) {\n        if (b) return 1;\n    }", "    if (a && b) return 1;"),
        ("    if (a || b) {\n        if (c) return 1;\n    }", "    if ((a || b) && c) return 1;"),
        ("    if (a) {\n        if (b || c) x = 1;\n    }", "    if (a && (b || c)) x = 1;"),
        (
            "    if (a) {\n        f();\n        g();\n    } else if (b) {\n        x = 1;\n    }",
            "    if (a) {\n        f();\n        g();\n    } else if (b) x = 1;",
        ),
        (
            "    if (a) {\n        f();\n        g();\n    } else {\n        x = 1;\n    }",
            "    if (a) {\n        f();\n        g();\n    } else x = 1;",
        ),
        (
            "    if (a) {\n        if (b) {\n            if (c) return 1;\n        }\n    }",
            "    if (a && b && c) return 1;",
        ),
    ],
)
def test_a_block_of_one_statement_is_put_on_one_line(before: str, after: str) -> None:
    assert compact(lines(before)) == lines(after)


@pytest.mark.parametrize(
    "text",
    [
        "    if (a) {\n        if (b) x = 1;\n        else x = 2;\n    }",
        "    if (a) {\n        if (b) x = 1;\n    } else {\n        y = 1;\n        z = 1;\n    }",
        "    for (int i = 0; i < n; i++) {\n        if (a) x = 1;\n    }",
        "    while (a) {\n        if (b) break;\n    }",
        "    if (a) {\n        double x = 1.0;\n    }",
    ],
)
def test_a_block_with_an_else_a_loop_or_a_declaration_is_not_joined(text: str) -> None:
    assert compact(lines(text)) == lines(text)


def test_a_line_that_would_be_too_long_is_not_joined() -> None:
    for length, is_one in ((LONGEST, True), (LONGEST + 1, False)):
        call = f"f({'x' * (length - len('    if (a) f();'))});"
        assert (len(compact(["    if (a) {", f"        {call}", "    }"])) == 1) is is_one


def test_an_intermediate_value_gets_the_name_to_which_it_is_assigned() -> None:
    intermediate = ["    double held_1 = a - b;", "    double held_2 = b;", "    double x = held_1;"]
    assert named_once(intermediate) == ["    double x = a - b;", "    double held_2 = b;"]
    other_kind = ["    int64_t held_1 = n;", "    double x = held_1;"]
    assert named_once(other_kind) == other_kind
    read_twice = ["    double held_1 = a;", "    double x = held_1;", "    y = held_1;"]
    assert named_once(read_twice) == read_twice
    in_a_block = ["    double held_1 = a;", "    if (b) {", "        double x = held_1;", "    }"]
    assert named_once(in_a_block) == in_a_block


def test_items_of_one_tuple_are_declared_on_one_line() -> None:
    items = ["    double x = held_1._0;", "    double y = held_1._1;"]
    assert unpacked(items) == ["    double x = held_1._0, y = held_1._1;"]
    of_two_tuples = ["    double x = held_1._0;", "    int64_t y = held_1._1;", "    double z = held_2._0;"]
    assert unpacked(of_two_tuples) == of_two_tuples


def test_the_status_of_the_last_call_is_returned_directly() -> None:
    last = "    if ((status_1 = f(a)) != 0) return status_1;"
    assert with_last_status([last, "    return 0;"]) == ["    return f(a);"]
    assert with_last_status([last, "    *result = 1;", "    return 0;"])[0] == last
    assert with_last_status(["    return 0;"]) == ["    return 0;"]


def jumps(n, x):
    any_crossed = False
    for _ in range(0):
        any_crossed = True
    if any_crossed:
        x[0] = 1.0
    return any_crossed


def calls_jumps(n, x):
    if jumps(n, x):
        x[0] = 2.0
    x[1] = 3.0


def test_a_name_with_one_remaining_assignment_is_a_constant() -> None:
    program = Program()
    root = program.root(calls_jumps, "iF>v")
    simplifier = Simplifier("Run", {})
    simplifier.simplify(program.functions)
    assert shown(simplifier.functions[root.symbol]).splitlines()[1:] == ["    x[1] = 3.0"]


def test_two_records_of_one_name_have_two_structures() -> None:
    def record(**fields: type) -> type:
        return type("Errors", (Record,), {"__annotations__": fields, "__module__": __name__})

    types = Types()
    first, second = record(position=float), record(speed=float)
    assert [types._record(cls) for cls in (first, second, first)] == ["Errors", "Errors_2", "Errors"]
    assert types.structures["Errors_2"] == "typedef struct Errors_2 { double speed; } Errors_2;"
