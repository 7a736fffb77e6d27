"""The hooks by which mkdocs makes a site of files at their places in the repository.

Beside `docs/` the site has the pages of `reference_pages`, and those of examples, benchmarks and the project,
under their own paths. Links are written for readers of the repository; here they are bent to the site, and
those to source files become the path.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1]))
from addresses import addresses
from notebook_pages import notebook_pages
from overview_pages import gallery_page, numbers_page
from reference_pages import reference_pages

ROOT = Path(__file__).parents[2]
PROJECT = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
PICTURES = (".png", ".svg")
MADE = {"release/site/reference_pages.py": "reference/ids.md"}
"""Pages that links reach by the script that makes them, since the repository does not have the page."""
LINK = re.compile(r"(!?)\[((?:[^\[\]]|!?\[[^\]]*\]\([^)]*\))*)\]\(([^)\s]+)\)")
FENCED = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)

_generated: dict[str, str | bytes] = {}


def on_config(config: Any) -> Any:
    """Pages that the navigation in `mkdocs.yml` does not name get a place in it, the site its addresses."""
    address_of = addresses()
    config.site_url, config.repo_url = address_of.get("documentation"), address_of.get("repository")
    config.repo_name = config.site_name
    notebooks = notebook_pages()
    _generated.update(reference_pages() | notebooks)
    sections = {title: pages for section in config.nav for title, pages in section.items()}
    sections["Start"].append({"Notebooks": [path for path in notebooks if path.endswith(".md")]})
    reference = [path for path in _generated if path not in notebooks]
    sections["Reference"] += [path for path in reference if "/api/" not in path]
    sections["Reference"].append({"Python": [path for path in reference if "/api/" in path]})
    for title, folder, path, overview in (
        ("Gallery", "examples", "examples.md", gallery_page),
        ("Numbers", "benchmarks", "numbers.md", numbers_page),
    ):
        pages = [_site_path(path) for path in _beside() if path.suffix == ".md"]
        sections[title] += [
            page for page in pages if page.startswith(f"{folder}/") and page not in sections[title]
        ]
        _generated[path] = overview(page for page in sections[title] if page.startswith(f"{folder}/"))
        sections[title].insert(0, path)
    named = set(_leaves(config.nav))
    decisions = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    sections["Maintainers"].append(
        {"Decisions": ["decisions/README.md", *(f"decisions/{n}" for n in decisions)]}
    )
    pages = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    sections["How-to"] += [name for name in pages if name not in named]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add pages that do not lie in `docs/`, and the pictures beside them."""
    for path, text in _generated.items():
        files.append(File.generated(config, path, content=text))
    for path in [*map(ROOT.joinpath, PROJECT), *_beside()]:
        files.append(File.generated(config, _site_path(path), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links as they have to be on the site."""
    source = page.file.src_uri
    if source in _generated:
        return markdown
    home = ROOT / ("docs/" + source if (ROOT / "docs" / source).exists() else source)

    def bent(match: re.Match[str]) -> str:
        mark, text, target = match.groups()
        text = LINK.sub(bent, text)
        path, hash, anchor = target.partition("#")
        if not path or ":" in path:
            return f"{mark}[{text}]({target})"
        there = (home.parent / path).resolve()
        there = there / "README.md" if there.is_dir() and (there / "README.md").exists() else there
        uri = _site_path(there)
        uri = MADE.get(uri, uri)
        if files.get_file_from_path(uri) is not None:
            return f"{mark}[{text}]({posixpath.relpath(uri, posixpath.dirname(source) or '.')}{hash}{anchor})"
        if there.exists():
            place = there.relative_to(ROOT).as_posix()
            if place.endswith(text.strip("`")):
                return f"`{place}`"
            return text if place in text else f"{text} (`{place}`)"
        return match.group(0)  # mkdocs says that it leads nowhere

    return "".join(
        part if part.startswith("```") else LINK.sub(bent, part) for part in FENCED.split(markdown)
    )


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Remove the dash behind an argument that has no description."""
    return re.sub(r"–(?=\s*<div class=\"doc-md-description\">\s*</div>)", "", html)


def _beside() -> list[Path]:
    """Pages and pictures of examples and benchmarks."""
    files = []
    for folder in ("examples", "benchmarks"):
        for path in sorted((ROOT / folder).glob("*/*")):
            if path.name == "README.md" or path.suffix in PICTURES:
                files.append(path)
    return files


def _site_path(path: Path) -> str:
    place = (
        path.resolve().relative_to(ROOT).as_posix()
        if path.resolve().is_relative_to(ROOT)
        else path.as_posix()
    )
    return place.removeprefix("docs/")


def _leaves(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    inner = nav.values() if isinstance(nav, dict) else nav
    return [leaf for item in inner for leaf in _leaves(item)]
