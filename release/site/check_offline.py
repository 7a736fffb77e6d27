"""Check a built site: ``python check_offline.py FOLDER``.

It loads nothing from elsewhere, no link of it is broken, and its search works for pages opened from the disk.
"""

from __future__ import annotations

import re
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\s(?:src|srcset|data)\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b(?=[^>]*\brel\s*=\s*["']?(?:stylesheet|preconnect|preload|icon|dns-prefetch))[^>]*?\shref\s*=\s*["']?((?:https?:)?//[^"'\s>]+)""",
    re.IGNORECASE,
)
IN_STYLE = re.compile(r"""(?:@import\s*|url\(\s*)["']?((?:https?:)?//[^"')\s]+)""")
LINK = re.compile(
    r"""<(?:a|link|script|img|source|iframe)\b[^>]*?\s(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))"""
)
PLACE = re.compile(r"""\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""")
SEARCH = "search/search_index.js"


def broken(folder: Path) -> list[str]:
    """Links of pages to files and headings that the site does not have, each with the page."""
    pages = {path.resolve(): path.read_text("utf-8") for path in sorted(folder.rglob("*.html"))}
    places = {path: {a or b or c for a, b, c in PLACE.findall(text)} for path, text in pages.items()}
    faults = []
    for path, text in pages.items():
        if path.name == "404.html":
            continue  # its links are absolute: a server shows it under any address
        for link in sorted({unescape(a or b or c) for a, b, c in LINK.findall(text)}):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            anchor = unquote(parts.fragment)
            if not there.exists() or (anchor and there in places and anchor not in places[there]):
                faults.append(f"{path.relative_to(folder.resolve())}: {link}")
    return faults


def loads(folder: Path) -> list[str]:
    """The addresses that pages and style sheets load from elsewhere, each with its file."""
    faults = []
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
        faults += [f"{path.relative_to(folder)}: {url}" for url in urls]
    return faults


def main() -> int:
    """Print what is wrong; 1 if something is, or if there is no page."""
    folder = Path(sys.argv[1])
    faults = [f"{fault} (loaded from elsewhere)" for fault in loads(folder)]
    faults += [f"{fault} (leads nowhere)" for fault in broken(folder)]
    if not (folder / SEARCH).is_file():
        faults.append(f"{SEARCH} is missing: pages opened from the disk have no search")
    fine = f"{folder}: nothing is loaded from elsewhere, and no link is broken"
    print("\n".join(faults) or fine)
    return 1 if faults or not any(folder.rglob("*.html")) else 0


if __name__ == "__main__":
    sys.exit(main())
