"""The nodes of a syntax tree come in the order of Python's own walk; contexts of names are left out."""

import ast
from pathlib import Path

import pytest

import cosim_compiler
from cosim_compiler.sources.tree_walk import tree_nodes

FILES = sorted(Path(cosim_compiler.__file__).parent.glob("language/*.py"))
TEXTS = {
    "nothing": "",
    "lists with None": "f(**a)\n{**a, 1: 2}\n",
    "all kinds of arguments": "def f(a, /, b=1, *c, d=2, **e): pass\n",
    "a match": "match x:\n    case {'a': 1, **rest}: pass\n    case A(b, c=d) | [*_]: pass\n",
    "handlers": "try:\n    pass\nexcept (A, B) as error:\n    raise C from error\nelse:\n    del a\n",
    "a text with values": "f'{a!r:{b}} {c}'\n",
    "comprehensions": "[x async for x in y if z]\n{a: b for c in d for e in f}\n",
    **{path.name: path.read_text("utf-8") for path in FILES},
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_nodes_are_those_of_ast_walk(text):
    tree = ast.parse(text)
    expected = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
    found = tree_nodes(tree)
    assert len(found) == len(expected)
    assert all(node is other for node, other in zip(found, expected, strict=True))
