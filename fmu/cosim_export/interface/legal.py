"""What stands in the folder ``documentation`` of an FMU for those who may have to say no to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

ENTRY = "documentation/licenses/license.txt"
NEEDS = "documentation/externalDependencies.txt"


def license_entry(about: Mapping[str, str], licences: Iterable[str]) -> dict[str, bytes]:
    """The file with which the licences of an FMU begin: what the model's is, and where the others are.

    Parameters
    ----------
    about : mapping of str to str
        Of the model: "license", "copyright", "author".
    licences : iterable of str
        Names in the archive of the licences of the software in it.

    References
    ----------
    Functional Mock-up Interface 3.0.2, section 2.5; 2.0.5, section 2.3.
    """
    lines = [f"The model: {about.get('license') or 'its author names no licence.'}"]
    lines += [f"{name.capitalize()}: {about[name]}" for name in ("author", "copyright") if about.get(name)]
    folder = ENTRY.rpartition("/")[0] + "/"
    listed = [f"  {name.removeprefix(folder)}" for name in sorted(licences)]
    lines += ["", "The software in this FMU comes under these licences:", *listed] if listed else []
    return {ENTRY: "\n".join([*lines, ""]).encode()}


def external_dependencies(needs: Iterable[str]) -> dict[str, bytes]:
    """The file that says what has to be installed where the FMU runs."""
    return {NEEDS: "\n\n".join([*needs, ""]).rstrip("\n").encode() + b"\n"}
