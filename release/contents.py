"""Write what a release consists of: checksums of its archives, and a bill of materials for each.

``python release/contents.py dist/*`` writes ``SHA256SUMS`` (for ``sha256sum --check``) beside the archives,
and ``ARCHIVE.cdx.json`` for each: CycloneDX 1.5, with the archive's own checksum, every file of it with its
checksum, and the packages that it requires. Everything in them follows from the archives: the same ones give
the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import Any

SUMS, ENDING = "SHA256SUMS", ".cdx.json"
REQUIREMENT = re.compile(
    r"^(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?P<version>[^;]*?)\s*(?:;\s*(?P<when>.*))?$"
)


def checksum(data: bytes) -> str:
    """SHA-256 in hexadecimal digits.

    >>> checksum(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(data).hexdigest()


def metadata_and_files(archive: Path) -> tuple[Message, dict[str, bytes]]:
    """The metadata of a wheel or an archive of sources, and its files by name.

    Raises
    ------
    SystemExit
        It is neither, or has none.
    """
    files: dict[str, bytes] = {}
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                files = {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}
        elif archive.name.endswith(".tar.gz"):
            with tarfile.open(archive) as sources:
                for member in sources.getmembers():
                    if (file := sources.extractfile(member)) is not None:
                        files[member.name] = file.read()
    except (OSError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise SystemExit(f"{archive}: cannot be read: {error}") from None
    ending = r"[^/]+\.dist-info/METADATA" if archive.suffix == ".whl" else r"[^/]+/PKG-INFO"
    metadata = next((data for name, data in files.items() if re.fullmatch(ending, name)), None)
    if metadata is None:
        raise SystemExit(f"{archive}: is neither a wheel nor an archive of sources")
    return BytesHeaderParser().parsebytes(metadata), files


def bill_of_materials(archive: Path) -> dict[str, Any]:
    """CycloneDX 1.5: the package, its files, and what it requires."""
    metadata, files = metadata_and_files(archive)
    name, version = metadata["Name"], metadata["Version"]
    own = f"pkg:pypi/{name}@{version}"
    required = [requirement(line) for line in metadata.get_all("Requires-Dist", [])]
    inside = [
        {"type": "file", "name": place, "hashes": [{"alg": "SHA-256", "content": checksum(data)}]}
        for place, data in sorted(files.items())
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": name,
                "version": version,
                "purl": own,
                "licenses": [{"expression": metadata.get("License-Expression", "NOASSERTION")}],
                "hashes": [{"alg": "SHA-256", "content": checksum(archive.read_bytes())}],
                "components": inside,
            }
        },
        "components": required,
        "dependencies": [
            {"ref": own, "dependsOn": [each["bom-ref"] for each in required if each["scope"] == "required"]}
        ],
    }


def requirement(line: str) -> dict[str, Any]:
    """A package that is required, or in an extra: which versions will do, and when.

    >>> requirement("pyarrow>=16; extra == 'parquet'")["scope"]
    'optional'
    """
    match = REQUIREMENT.match(line)
    if match is None:
        raise SystemExit(f"{line!r} is not a requirement")
    when = match["when"] or ""
    properties = {"versions": match["version"], "when": when}
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{match['name'].lower()}" + (f"#{when}" if when else ""),
        "name": match["name"],
        "purl": f"pkg:pypi/{match['name'].lower()}",
        "scope": "optional" if "extra" in when else "required",
        "properties": [{"name": key, "value": value} for key, value in properties.items() if value],
    }


def main(archives: list[Path]) -> None:
    """Write the files beside the archives."""
    archives = [path for path in archives if path.name != SUMS and not path.name.endswith(ENDING)]
    if not archives:
        raise SystemExit("Name the archives of a release: python release/contents.py dist/*")
    if len({path.parent for path in archives}) > 1:
        raise SystemExit("The archives of a release stand in one folder")
    for path in archives:
        text = json.dumps(bill_of_materials(path), indent=1, sort_keys=True) + "\n"
        path.with_name(path.name + ENDING).write_text(text, "utf-8")
    listed = sorted([*archives, *(path.with_name(path.name + ENDING) for path in archives)])
    lines = [f"{checksum(path.read_bytes())}  {path.name}\n" for path in listed]
    (archives[0].parent / SUMS).write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main([Path(word) for word in sys.argv[1:]])
