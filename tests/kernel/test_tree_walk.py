"""`tree_nodes` gives the nodes of a syntax tree in the order of `ast.walk`, without contexts of names."""

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
    nodes = tree_nodes(tree)
    assert len(nodes) == len(expected)
    assert all(node is expected_node for node, expected_node in zip(nodes, expected, strict=True))
