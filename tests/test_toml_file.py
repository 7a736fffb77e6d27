"""TOML files are read with the line of each key and element, and a wrong file is refused with its line."""

import datetime
import random
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosim import ModelError
from cosim_toml.plain_toml import read_plain
from cosim_toml.toml_file import TomlFile
from cosim_toml.toml_lines import toml_lines

HARD = '''# a comment with [brackets] and = and "quotes
a.b."c.d" = """x
""\\"" = 1 """"  # c
'single "quoted"'.k = \'\'\'[no]
'table' = 1\'\'\'\'
[x]
y = [ # comment ]
 1979-05-27 07:32:00, "]",
 [2, 3
 ,], {p=1, q.r=[
 5]}]
[[arr]]
n = 1
[arr.sub]
k='\\'
[[arr]]
[[arr.deep]]
z="\\\\"
[[ arr . deep ]]
z=2
[ "tab\\u006ce" . inner ]
e = ""
f = {}
g = []
'''


def paths_of(data, above=()):
    """The paths of all keys and elements of data that tomllib has read."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from paths_of(value, (*above, key))


def test_every_key_and_element_has_its_line() -> None:
    lines = toml_lines(HARD)
    assert set(lines) == set(paths_of(tomllib.loads(HARD)))
    expected = {
        ("a", "b", "c.d"): 2,
        ('single "quoted"', "k"): 4,
        ("x",): 6,
        ("x", "y"): 7,
        ("x", "y", 0): 8,
        ("x", "y", 2, 1): 9,
        ("x", "y", 3, "q", "r", 0): 11,
        ("arr",): 12,
        ("arr", 0, "sub", "k"): 15,
        ("arr", 1): 16,
        ("arr", 1, "deep", 0, "z"): 18,
        ("arr", 1, "deep", 1): 19,
        ("table", "inner", "e"): 22,
        ("table", "inner", "g"): 24,
    }
    assert {path: lines[path] for path in expected} == expected


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_the_kind_of_line_ends_does_not_matter(end: str) -> None:
    assert toml_lines(HARD.replace("\n", end)) == toml_lines(HARD)


def test_every_key_in_the_files_of_this_repository_has_its_line() -> None:
    files = [*Path(__file__).parents[1].glob("*.toml"), *Path(__file__).parents[1].glob("examples/**/*.toml")]
    assert files
    for file in files:
        text = file.read_text("utf-8")
        assert set(toml_lines(text)) == set(paths_of(tomllib.loads(text)))


class Writer:
    """Writes data as TOML in one of many ways, by random choices."""

    def __init__(self, choose) -> None:
        self.choose = choose
        self.lines: list[str] = []

    def key(self, name: str) -> str:
        plain = re.fullmatch(r"[A-Za-z0-9_-]+", name) is not None
        forms = ['"' + "".join(f"\\u{ord(c):04x}" for c in name) + '"']
        forms += [f"'{name}'"] if "'" not in name and name.isprintable() else []
        forms += [name] * 3 if plain else []
        return self.choose(forms)

    def space(self, lines: bool) -> str:
        return self.choose(["", " ", "\t", "\n", " # ] } = [\n\n "] if lines else ["", " ", "\t"])

    def value(self, value) -> str:
        if isinstance(value, dict):
            gap = self.space(False)
            pairs = [f"{self.key(k)}{gap}={gap}{self.value(v)}" for k, v in value.items()]
            return "{" + gap + ",".join(pairs) + gap + "}"
        if isinstance(value, list):
            items = [self.space(True) + self.value(v) + self.space(True) for v in value]
            return "[" + ",".join(items) + (self.choose(["", ","]) if items else "") + self.space(True) + "]"
        if isinstance(value, str):
            text = "".join(f"\\u{ord(c):04x}" if c in '"\\' or not c.isprintable() else c for c in value)
            return self.choose([f'"{text}"', f'"""{text}"""', f'"""\n{text}\\\n  """'])
        return value.isoformat(" ") if isinstance(value, datetime.datetime) else repr(value).lower()

    def table(self, data: dict, above: str) -> None:
        inline = [k for k, v in data.items() if not isinstance(v, dict) or self.choose([True, False])]
        for key in inline:
            self.lines += [self.choose(["", "# [comment]", "\t"])]
            self.lines += [f"{self.key(key)}{self.space(False)}= {self.value(data[key])}"]
        for key in data:
            if key not in inline:
                header = f"{above}{self.key(key)}"
                self.lines.append(f"[{self.space(False)}{header}{self.space(False)}] # {{")
                self.table(data[key], f"{header}{self.choose(['.', ' . '])}")


NUMBER = 12345678
"""A number whose text no other value contains."""
KEYS = st.text(
    st.characters(max_codepoint=0x2FF, exclude_categories=["Cs"]), min_size=1, max_size=6
) | st.sampled_from(["a", "b-1", "2"])
SCALARS = st.one_of(
    st.text(st.characters(max_codepoint=0x2FF, exclude_categories=["Cs"]), max_size=8),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.datetimes(datetime.datetime(1900, 1, 1)),
    st.just(NUMBER),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.data())
def test_random_data_written_in_random_ways_has_all_its_lines(data: dict, source: st.DataObject) -> None:
    writer = Writer(lambda options: source.draw(st.sampled_from(options)))
    writer.table(data, "")
    text = "\n".join(writer.lines) + "\n"
    assert tomllib.loads(text) == data
    lines = toml_lines(text)
    assert set(lines) == set(paths_of(data))
    source_lines = text.split("\n")
    for path, line in lines.items():
        value = data
        for key in path:
            value = value[key]
        if isinstance(value, int) and value == NUMBER:
            assert str(NUMBER) in source_lines[line - 1]


@given(st.text(max_size=40) | st.text("[]{}=\"'.,# \n\tab1-", max_size=40))
def test_a_random_text_is_read_or_refused_with_its_line(text: str) -> None:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(ModelError) as raised:
            TomlFile(Path("x.toml"), text)
        assert re.match(r"x\.toml:\d+: no valid TOML: ", str(raised.value))
        line = int(str(raised.value).split(":")[1])
        assert 1 <= line <= text.count("\n") + 1
    else:
        assert set(TomlFile(Path("x.toml"), text).lines) == set(paths_of(data))


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = = 2\n", 2), ("a = 1\na = 2", 2), ("[a]\nb = 1\n\nc = [1,\n\n", 4), ("\n\nx", 3)],
)
def test_a_syntax_error_is_reported_with_its_line(text: str, line: int) -> None:
    with pytest.raises(ModelError, match=rf"^m\.toml:{line}: no valid TOML"):
        TomlFile(Path("m.toml"), text)


def test_missing_binary_huge_and_deeply_nested_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    with pytest.raises(ModelError, match="no such file"):
        TomlFile.read(path)
    with pytest.raises(ModelError, match="is a directory"):
        TomlFile.read(tmp_path)
    path.write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(ModelError, match=r"m\.toml:2: is not UTF-8 text"):
        TomlFile.read(path)
    path.write_bytes(b"#" * 10_000_001)
    with pytest.raises(ModelError, match="people write"):
        TomlFile.read(path)
    for key in ("a" + ".a" * 20_000, "a" + ' . "b"' * 20_000):
        with pytest.raises(ModelError, match=r"file\.toml:2.*key with more.*200"):
            TomlFile(Path("file.toml"), f"x = 1\n{key} = 1\n")
    path.write_text("a = " + "[" * 100_000 + "]" * 100_000)
    with pytest.raises(ModelError, match="nested too deeply"):
        TomlFile.read(path)


@pytest.mark.parametrize(
    ("text", "place", "line"),
    [
        ("[p]\n\na.b = 1", ("p", "a", "b"), 3),
        ('[p]\n\n"a.b" = 1', ("p", "a.b"), 3),
        ("\np = { x = 1, a.b = 1 }", ("p", "a", "b"), 2),
        ("\n[p.a]\nc = 1", ("p", "a"), 2),
        ("\n[p]\nc = 1", ("p",), 2),
        ("\np = 3", ("p",), 2),
        ("", ("p",), None),
    ],
)
def test_the_line_of_a_dotted_name(text: str, place: tuple, line: int | None) -> None:
    file = TomlFile(Path("m.toml"), text)
    assert file.place(("p",), "a.b") == place
    assert file.line(place) == line
    assert file.where(place, "p") == ("m.toml: p" if line is None else f"m.toml:{line}: p")


PIECES = r'''[a]
[a.b]
[[a]]
[[b]]
[a.b.c]
a = 1
b = 2.5
c = "x"
d = [1, 2]
a = {b = 1}
b = {c = [1]}
b = [{c = 1}]
[b]
[b.c]
c = 01
c = 1.
d = true
d = inf
e = 'x'
e = """x"""
# c
  f = -0 # x
f = 1_0
g = 0x10
g = 1979-05-27
a.b = 1
"q" = 1

h = "a\n"
h = """
x
k = 9223372036854775808
k = 1e400
= 1
l = "a" "b"
l = 1 2
m = [1,
]
n = "a#b" # c
n = tru
o = [1] # "
p=1
[ a ]
[a]x
[[a]] # x
s = -1.5e-3
t = +0
u = "é" # é'''


def test_simple_lines_are_read_as_by_tomllib() -> None:
    draw, pieces, read = random.Random(3), PIECES.split("\n"), 0
    for _ in range(30_000):
        text = draw.choice(["\n", "\n", "\r\n"]).join(draw.choices(pieces, k=draw.randint(1, 7)))
        if draw.random() < 0.1:
            at = draw.randrange(len(text) + 1)
            text = text[:at] + draw.choice("\"'[]{}=#.\0\r\n\t a1") + text[at:]
        if (data := read_plain(text)) is not None:
            read += 1
            assert repr(data) == repr(tomllib.loads(text)), text
    assert 4000 < read < 20_000


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 60 + "]" * 60, f"a = {2**63}", f"a = 0x{2**64:x}", "a = 1 # \x00"]
)
def test_values_that_the_fast_reader_leaves_to_tomllib(text: str) -> None:
    assert read_plain(text) is None
