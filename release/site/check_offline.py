"""Check that a built site loads nothing from elsewhere: ``python check_offline.py FOLDER``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\s(?:src|srcset|data)\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b(?=[^>]*\brel\s*=\s*["']?(?:stylesheet|preconnect|preload|icon|dns-prefetch))[^>]*?\shref\s*=\s*["']?((?:https?:)?//[^"'\s>]+)""",
    re.IGNORECASE,
)
IN_STYLE = re.compile(r"""(?:@import\s*|url\(\s*)["']?((?:https?:)?//[^"')\s]+)""")


def loads(folder: Path) -> list[str]:
    """What pages and style sheets load from elsewhere, each with the file that does so."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".html":
            text = path.read_text("utf-8")
            urls = [a or b for a, b in LOADED.findall(text)]
            urls += [
                url
                for style in re.findall(r"<style.*?</style>", text, re.DOTALL)
                for url in IN_STYLE.findall(style)
            ]
        elif path.suffix == ".css":
            urls = IN_STYLE.findall(path.read_text("utf-8"))
        else:
            continue
        found += [f"{path.relative_to(folder)}: {url}" for url in urls]
    return found


def main() -> int:
    """Print what is loaded from elsewhere; 1 where something is, or where there is no page."""
    folder = Path(sys.argv[1])
    found = loads(folder)
    print("\n".join(found) if found else f"{folder}: nothing is loaded from elsewhere")
    return 1 if found or not any(folder.rglob("*.html")) else 0


if __name__ == "__main__":
    sys.exit(main())
