"""Write the project's addresses where they belong, and say whether an upload may follow.

``python release/addresses.py [ARCHIVE …]`` fills `CITATION.cff` and `SECURITY.md` in from `addresses.toml`,
and looks for the addresses in what was built. Status 1 and a sentence where some are missing.
"""

from __future__ import annotations

import re
import runpy
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = ("repository", "documentation", "issues", "security", "files", "pictures")
LINK = re.compile(r"(!?)(\[[^\[\]]*\])\((?!\w+:|#)([^)\s]+)\)")


def version(root: Path = ROOT) -> str:
    """The number of the release."""
    return str(runpy.run_path(str(root / "cosim" / "version.py"))["__version__"])


def addresses(root: Path = ROOT) -> dict[str, str]:
    """The known addresses by their names."""
    lines = tomllib.loads((root / "release" / "addresses.toml").read_text("utf-8"))
    filled = {name: address.replace("{version}", version(root)) for name, address in lines.items() if address}
    for name, address in filled.items():
        if name not in NAMES or not re.match(
            r"https://\w|mailto:\w" if name == "security" else r"https://\w", address
        ):
            raise SystemExit(
                f"release/addresses.toml: {name} = {address!r} is not an address of {', '.join(NAMES)}"
            )
    return filled


def project_urls(root: Path = ROOT) -> dict[str, str]:
    """The addresses that a package index shows with the package."""
    return {name.capitalize(): address for name, address in addresses(root).items() if name in NAMES[:3]}


def readme(root: Path = ROOT) -> str:
    """The README as a package index shows it, where links are whole addresses."""
    address_of = addresses(root)
    return LINK.sub(
        lambda found: (
            f"{found[1]}{found[2]}({address_of.get('pictures' if found[1] else 'files', '')}{found[3]})"
        ),
        (root / "README.md").read_text("utf-8"),
    )


def fill_in(root: Path = ROOT) -> None:
    """Version and addresses into the files of the repository that state them."""
    address_of = addresses(root)
    stated = {
        "version": version(root),
        "repository-code": address_of.get("repository"),
        "url": address_of.get("documentation"),
    }
    path = root / "CITATION.cff"
    lines = [line for line in path.read_text("utf-8").splitlines() if line.partition(":")[0] not in stated]
    lines += [f"{key}: {value}" for key, value in stated.items() if value]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    if "security" in address_of:
        path = root / "SECURITY.md"
        text = re.sub(
            r"in private, .*?, and not",
            f"in private, at <{address_of['security']}>, and not",
            path.read_text("utf-8"),
        )
        path.write_text(text, "utf-8")


def metadata(archive: Path) -> str:
    """The metadata of a wheel or of an archive of the sources."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(next(n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))).decode()
    with tarfile.open(archive) as sources:
        return (
            sources.extractfile(next(n for n in sources.getnames() if n.endswith("/PKG-INFO")))
            .read()
            .decode()
        )


def why_not(archives: list[Path], root: Path = ROOT) -> str:
    """The reasons against an upload; empty if there are none."""
    missing = [name for name in NAMES if name not in addresses(root)]
    if missing:
        return (
            f"Not ready for an upload: release/addresses.toml has no {', '.join(missing)}. "
            "Write them there, as its comments say, run `python release/addresses.py`, and build again."
        )
    stated = [f"Project-URL: {label}, {url}" for label, url in project_urls(root).items()]
    old = [path.name for path in archives if not set(stated) <= set(metadata(path).splitlines())]
    return (
        f"Built without the addresses of release/addresses.toml: {', '.join(old)}. Build again."
        if old
        else ""
    )


if __name__ == "__main__":
    fill_in()
    sys.exit(why_not([Path(name) for name in sys.argv[1:]]) or None)
