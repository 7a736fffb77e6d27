"""The folder ``sources`` of an FMU: C99 that a tool compiles itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from cosim_export.native.model_tables import ENTRY_POINTS

PROTOTYPE = re.compile(r"^(?:const )?\w+ \**(\w+)\(", re.MULTILINE)
"""A declaration of a function in a header of the shell, with its name."""
STANDARD_FUNCTION = re.compile(
    r"^(?:HANDS_ON|VECTOR|VALUES|NOT_HERE)\(\s*(fmi\d\w+)|^FMI\d_EXPORT [\w *]+?(fmi\d\w+)\(", re.MULTILINE
)
"""A definition of a function of the standard, by a macro of the shell or by hand, with its name."""
GENERATED_HEADERS = {"names.h", "plain_names.h"}
"""Headers of the shell in whose place this module writes those of a model."""
INCLUDED_BY = {"exchange_records": "container", "foreign_calls": "foreign"}
"""Headers, by the only header that includes them."""
BUILD_DESCRIPTION = "buildDescription.xml"


def source_files(
    shell: Path,
    units: Sequence[Path],
    identifier: str,
    version: int,
    generated: Mapping[str, str],
    names: Iterable[str] = (),
) -> dict[str, bytes]:
    """The files by their names in ``sources``.

    Parameters
    ----------
    shell : Path
        The folder of the files that all FMUs share.
    units : sequence of Path
        The files in it that are compiled.
    identifier : str
        The identifier of the model, with which all names begin that are visible outside of a file.
    version : int
        The version of FMI.
    generated : mapping of str to str
        Files that are written for the model: its tables, and its functions.
    names : iterable of str
        The names that the generated files define besides the model and its entry points.
    """
    unused = {"fmi2", "fmi3", "container", "foreign"} - {unit.stem for unit in units}
    unused |= {name for name, includer in INCLUDED_BY.items() if includer in unused}
    headers = [
        p for p in sorted(shell.glob("*.h")) if p.name not in GENERATED_HEADERS and p.stem not in unused
    ]
    standard = _names_of_standard(shell / f"fmi{version}.c")
    files = {path.name: path.read_bytes() for path in [*headers, *units]}
    shared = sorted({*_shared_names(headers), *names})
    files["names.h"] = _names(identifier, version, shared, standard).encode()
    files["plain_names.h"] = _plain_names(version, standard).encode()
    files |= {name: text.encode() for name, text in generated.items()}
    if version == 3:
        files[BUILD_DESCRIPTION] = _build_description(identifier, compiled_files(files))
    return files


def compiled_files(files: Iterable[str]) -> list[str]:
    """The compiled files, the functions of the model first."""
    return sorted((name for name in files if name.endswith(".c")), key=lambda name: (name != "code.c", name))


def _shared_names(headers: Sequence[Path]) -> list[str]:
    """The names that files of the shell and of the model share."""
    names = {name for path in headers for name in PROTOTYPE.findall(path.read_text("utf-8"))}
    entries = {f"cosim_{name}" for name in ENTRY_POINTS}
    return sorted(names | entries | {"cosim_model"})


def _names_of_standard(file: Path) -> list[str]:
    """The functions of the standard that a file of the shell defines, in its order."""
    names = (macro or plain for macro, plain in STANDARD_FUNCTION.findall(file.read_text("utf-8")))
    return list(dict.fromkeys(names))


def _names(identifier: str, version: int, shared: Sequence[str], standard: Sequence[str]) -> str:
    """The text of ``names.h``, which begins shared names with the model's identifier."""
    override = f"FMI{version}_OVERRIDE_FUNCTION_PREFIX"
    return "\n".join(
        [
            f"/* Names that the files of {identifier} share: several FMUs may be linked into one program.",
            "",
            f"   Functions of the standard are called {identifier}_fmi{version}..., as it wants of sources.",
            "   With gcc and clang on Linux and QNX they have their plain names as well, which are weak.",
            "   Elsewhere they have the plain names alone, unless COSIM_FUNCTION_PREFIX is defined.",
            f"   {override} leaves the plain names alone everywhere. */",
            "#ifndef COSIM_NAMES_H",
            "#define COSIM_NAMES_H",
            "",
            *(f"#define {name} {identifier}_{name}" for name in shared),
            "",
            "#if defined(__GNUC__) && defined(__ELF__)",
            "#define COSIM_HAS_BOTH_NAMES",
            "#endif",
            f"#if !defined({override}) && (defined(COSIM_HAS_BOTH_NAMES) || defined(COSIM_FUNCTION_PREFIX))",
            *(f"#define {name} {identifier}_{name}" for name in standard),
            "#endif",
            "",
            "#endif",
            "",
        ]
    )


def _plain_names(version: int, standard: Sequence[str]) -> str:
    """The text of ``plain_names.h``, which gives functions of the standard their plain names as well."""
    fours = [standard[i : i + 4] for i in range(0, len(standard), 4)]
    return "\n".join(
        [
            "/* The names of the standard, for shared libraries that are made of these files as they are. */",
            f"#if defined(COSIM_HAS_BOTH_NAMES) && !defined(FMI{version}_OVERRIDE_FUNCTION_PREFIX)",
            "#define IN_QUOTES(text) #text",
            "#define ALIAS(full, plain) extern __typeof__(full) plain_##full __asm__(plain) "
            '__attribute__((weak, alias(IN_QUOTES(full)), visibility("default")));',
            "#define PLAIN(name) ALIAS(name, #name)",
            *(" ".join(f"PLAIN({name})" for name in four) for four in fours),
            "#endif",
            "",
        ]
    )


def _build_description(identifier: str, units: Sequence[str]) -> bytes:
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    configuration = SubElement(root, "BuildConfiguration", {"modelIdentifier": identifier})
    files = SubElement(configuration, "SourceFileSet", {"language": "C99"})
    for name in units:
        SubElement(files, "SourceFile", {"name": name})
    SubElement(configuration, "Library", {"name": "m", "external": "true", "description": "of the C library"})
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True) + b"\n"
