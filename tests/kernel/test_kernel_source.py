"""The statements of a file, in the order of its syntax tree."""

import ast

from cosim_compiler.sources.kernel_source import statements

SOURCE = """
import math
class Outer:
    def method(self, x=lambda: 1):
        for i in range(3):
            while x:
                x = [y for y in range(i)] if i else None
            else:
                del x
        else:
            return
        try:
            raise ValueError
        except (TypeError, ValueError):
            pass
        else:
            assert x
        finally:
            match x:
                case [1, y] if y:
                    x += 1
                case _:
                    global z
    async def other(self):
        async with self as x:
            if x: yield
            elif self: await x
            else: x: int = 1
"""


def test_statements_are_those_of_ast_walk_in_the_same_order() -> None:
    tree = ast.parse(SOURCE)
    expected = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    assert len(expected) == 22
    assert [node for node in statements(tree) if isinstance(node, ast.stmt)] == expected
