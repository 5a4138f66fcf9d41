"""The documentation builds without warnings, dead links or network access."""

import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tools.pages import is_elsewhere

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

# The pages of the reference, by the directory of the packages that they describe.
REFERENCE = {
    "packages/steersman/src/steersman": "",
    "packages/steersman-cluster/src/steersman_cluster": "cluster/",
}

PACKAGES = sorted(
    prefix + path.stem
    for source, prefix in REFERENCE.items()
    for path in (ROOT / source).iterdir()
    if not path.name.startswith("_")
    and path.suffix in ("", ".py")
    and path.name not in ("cli", "commands")  # documented in docs/command-line.md
)

# As in the Makefile, a warning is an error.
SPHINX = (sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html")

pytestmark = pytest.mark.timeout(600)


class Page(HTMLParser):
    """The links, loaded resources and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value for name, value in attrs if value}
        if "id" in said:
            self.places.add(said["id"])
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        elif tag == "link" and "href" in said:
            self.loads.append(said["href"])
        elif "src" in said:
            self.loads.append(said["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("site")
    made = subprocess.run(
        [*SPHINX, f"-d{home / 'doctrees'}", str(DOCS), str(home / "html")],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    return home / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def dead_links(pages: dict[Path, Page]) -> Iterator[str]:
    for path, page in pages.items():
        for link in page.links:
            where = urlsplit(link)
            if where.scheme or where.netloc:
                continue
            target = (path.parent / unquote(where.path)).resolve() if where.path else path
            place = unquote(where.fragment)
            if not target.is_file() or (
                target in pages and place and place not in pages[target].places
            ):
                yield f"{path.name}: {link}"


def test_every_link_has_an_existing_target(pages: dict[Path, Page]) -> None:
    assert list(dead_links(pages)) == []


def test_no_page_loads_anything_from_another_host(pages: dict[Path, Page]) -> None:
    assert [
        f"{path.name}: {link}"
        for path, page in pages.items()
        for link in page.loads
        if urlsplit(link).netloc
    ] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_of_a_package_is_on_its_page(
    package: str, pages: dict[Path, Page], site: Path
) -> None:
    distribution, _, name = package.rpartition("/")
    module = import_module(f"steersman{'_cluster' if distribution else ''}.{name}")
    page = pages[site / "reference" / f"{package}.html"]

    names = [name for name in getattr(module, "__all__", ()) if not is_elsewhere(module, name)]

    assert [name for name in names if f"{module.__name__}.{name}" not in page.places] == []


def test_every_name_of_the_top_level_package_links_to_its_page(
    pages: dict[Path, Page], site: Path
) -> None:
    steersman = import_module("steersman")
    links = pages[site / "reference" / "index.html"].links

    assert [
        name for name in steersman.__all__ if not any(link.endswith(f".{name}") for link in links)
    ] == []
