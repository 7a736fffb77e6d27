"""LLVM's text whose strings look like code: they stay as they are, and nothing is found in them."""

import hashlib
import types

import pytest

from cosim import kit
from cosim_compiler import lowered_code
from cosim_compiler.llvm_text import with_code_edited, without_strings
from cosim_fmu.lowering.machine_code import MachineCode
from cosim_fmu.lowering.numbered_calls import called_signatures

HOSTILE = [
    "ends with @",
    "no comdat, none comdat($x)",
    "a ; preds = b",
    "_ZN8numbered and numba_frexp",
    "@cosim_call_Q_z",
    lowered_code.PLACEHOLDER,
    'a "quoted" @"_ZN4name" text',
    "  ret i32 1",
    "target triple = x\ntarget y",
    "define i32 @f(",
]


def escaped(text):
    """A text as LLVM writes it."""
    printable = "".join(c if c.isprintable() and c not in '"\\' else f"\\{ord(c):02X}" for c in text)
    return f'c"{printable}"'


def module(texts):
    """A module whose constants hold the texts."""
    lines = [
        "; ModuleID = 'x \"y'",
        'source_filename = "x"',
        'target triple = "x86_64-unknown-linux-gnu"',
        "",
    ]
    lines += [f"@.const.{i} = internal constant [{len(t)} x i8] {escaped(t)}" for i, t in enumerate(texts)]
    lines += [
        "@_ZN08NumbaEnv3abc = common local_unnamed_addr global ptr null",
        'define linkonce_odr i32 @"_ZN1f.$a"(ptr %"arg.x") "no@frame"="a;b" {',
        '  br label %"B0.end"',
        "",
        '"B0.end":                                 ; preds = %0',
        "  %_ZN7inner = load i32, ptr @.const.0",
        "  ret i32 0",
        "}",
        "",
    ]
    return "\n".join(lines)


def constants(text):
    """The values of the constants of a module, as LLVM reads them."""
    llvm = pytest.importorskip("llvmlite.binding")
    found = llvm.parse_assembly(text)
    found.verify()
    return [str(v).partition(" x i8] ")[2] for v in found.global_variables if " constant " in str(v)]


def test_constants_that_look_like_code_stay_as_they_are():
    text = module(HOSTILE)
    lowered = lowered_code.named(
        lowered_code.apart(lowered_code.without_target(text, "_ZN1f.$a")), "their_name"
    )
    assert constants(lowered) == constants(text) == [escaped(t) for t in HOSTILE]
    assert "define linkonce_odr i32 @" in lowered and "their_name" in without_strings(lowered)
    assert "NumbaEnv" not in lowered and "triple" not in without_strings(lowered)


def test_only_code_is_searched():
    code = without_strings(module(HOSTILE))
    assert "comdat" not in code and "preds" not in code and "ends with" not in code
    assert code.count("  ret i32") == 1
    assert '%"arg.x"' in code and '"B0.end":' in code
    assert called_signatures([module(HOSTILE)]) == called_signatures([])
    assert "Q>z" in called_signatures([f"{module([])}  call i32 @cosim_call_Q_z()"])


def test_only_code_is_edited():
    text = '@a = constant [3 x i8] c"@a;"  ; as @a\n@"a" = x, "3", "a"'
    assert with_code_edited(text, lambda code: code.replace("a", "bb")) == (
        '@bb = constbbnt [3 x i8] c"@a;"\n@"bb" = x, "3", "a"'
    )


def raising(text):
    """A function that raises with a text, and with another one."""
    lines = ["def f(x):"]
    for condition, said in [("x < 0.0", text), ("x > 9.0", f"not {text}")]:
        lines += [f"    if {condition}:", f"        raise ValueError({said!r})"]
    return kit.run_source("\n".join([*lines, "    return 2.0 * x"]), {"__name__": "raising"})["f"]


def compiled_alone(text):
    return MachineCode([text], ["f"])


@pytest.mark.skipif(kit.is_plain(), reason="nothing is lowered here")
def test_functions_that_raise_hostile_texts_are_lowered():
    for text in HOSTILE:
        lowered = kit.lower(raising(text), "f>f", "f")
        assert not any("frexp" in name for name in compiled_alone(lowered).externals)


@pytest.mark.skipif(kit.is_plain(), reason="nothing is lowered here")
@pytest.mark.parametrize("last", [b"@", b";", b"@f", b" comdat,", b'"', b"\\", b"@_ZN4"])
def test_whatever_the_checksum_of_an_exception_ends_with(monkeypatch, last):
    """It depends on the path of the source file: in one folder of 256 it ends like a name."""
    from numba.core import pythonapi

    class Checksum:
        def __init__(self, data):
            self.found = hashlib.sha1(data)

        def digest(self):
            return self.found.digest()[: -len(last)] + last

    monkeypatch.setattr(pythonapi, "hashlib", types.SimpleNamespace(sha1=Checksum))
    compiled_alone(kit.lower(raising(f"for a checksum that ends with {last!r}"), "f>f", "f"))
