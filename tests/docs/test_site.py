"""The documentation builds without warnings, dead links or network access."""

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt

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


def markdown_links(file: Path) -> Iterator[str]:
    for token in MarkdownIt().parse(file.read_text(encoding="utf-8")):
        for each in token.children or ():
            if each.type == "link_open":
                yield str(each.attrs["href"])


def test_every_page_is_also_markdown_to_which_it_links(pages: dict[Path, Page], site: Path) -> None:
    of_sphinx = {site / name for name in ("genindex.html", "py-modindex.html", "search.html")}

    for path, page in pages.items():
        if path not in of_sphinx:
            assert path.with_suffix(".md").is_file(), path
            assert path.with_suffix(".md").name in page.links, path


def test_every_link_of_a_markdown_page_has_an_existing_target(site: Path) -> None:
    for file in [*site.rglob("*.md"), site / "llms.txt"]:
        for link in markdown_links(file):
            where = urlsplit(link)
            if not where.scheme and where.path:
                assert (file.parent / unquote(where.path)).is_file(), f"{file.name}: {link}"


def test_a_markdown_page_has_its_code_and_no_directive(site: Path) -> None:
    files = {file: file.read_text(encoding="utf-8") for file in site.rglob("*.md")}

    assert [file.name for file, text in files.items() if re.search(r"^ *```\{", text, re.M)] in (
        [],
        ["018-tested-pages.md"],  # shows one, inside of another fence
    )
    assert "async def reconcile(" in files[site / "tutorial.md"]
    assert "Usage: steersman cluster up" in files[site / "command-line.md"]
    assert "## NotOurs\n" in files[site / "errors.md"]
    assert "class Controller(" in files[site / "reference" / "controller.md"]


def test_llms_txt_lists_every_page_and_the_full_file_contains_the_guides(site: Path) -> None:
    listed = set(markdown_links(site / "llms.txt"))
    full = (site / "llms-full.txt").read_text(encoding="utf-8")

    files = {file.relative_to(site).as_posix(): file for file in site.rglob("*.md")}

    assert listed == set(files)
    for name, file in files.items():
        is_only_listed = name.startswith(("reference/", "decisions/"))
        assert (file.read_text(encoding="utf-8") in full) != is_only_listed, name
    # About 100,000 tokens, which fit into the context of a language model.
    assert len(full) < 500_000
    assert all(file.stat().st_size > 100 for file in files.values())
