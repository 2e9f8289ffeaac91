"""The local links of the built pages: files and anchors that pages name must exist.

python docs/_ext/local_links.py docs/_build
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors of a page, and what it links to."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.links.append(value)


def missing(folder: Path) -> list[str]:
    """One line per link of a page in the folder that leads to no file, or to no anchor of a page."""
    paths = [path for path in sorted(folder.resolve().rglob("*.html")) if "_static" not in path.parts]  # of the theme
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.exists():
                found.append(f"{path.relative_to(folder.resolve())}: no file {link}")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                found.append(f"{path.relative_to(folder.resolve())}: no anchor {link}")
    return found


if __name__ == "__main__":
    broken = missing(Path(sys.argv[1]))
    sys.exit("\n".join(broken) or None)
