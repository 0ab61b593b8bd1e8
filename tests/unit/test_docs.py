"""The documents: the rules that the code cites are written down, and links and paths lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.headings import slug

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "docs" / "linear-road.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = ("driver", "polling_baseline", "sql", "stored_procs", "tests")
CODE = (("driver",), ("polling_baseline",))
ITEM = r"\d+(?: to \d+)?"
CITATION = re.compile(rf"\brule(?: (\d+)|s ({ITEM}(?:, {ITEM})*(?:,? (?:and|or) {ITEM})?))", re.IGNORECASE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)}|docs|\.ci|\.github)/[\w./-]*)`")


def cited(text: str) -> set[int]:
    """The numbers in `rule 4`, `rules 1, 5 and 9`, `rules 2 to 4, 6 and 7`."""
    found: set[int] = set()
    for match in CITATION.finditer(re.sub(r"\n\s*(?:--|#)?\s*", " ", text)):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", match[1] or match[2]):
            found.update(range(int(first), int(last or first) + 1))
    return found


def anchors(page: Path) -> set[str]:
    """What a link may name after #: the ids in the text, and the headings as GitHub spells them."""
    text = re.sub(r"^(```.*?^```|    .*?)$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE)
    return {*re.findall(r'<a id="([^"]+)">', text), *map(slug, headings)}


def links() -> list[tuple[Path, str]]:
    """Each relative link, with the page that it stands on."""
    found = [(page, link) for page in PAGES for link in sorted(set(LINK.findall(page.read_text())))]
    return [(page, link) for page, link in found if not re.match(r"[a-z]+:", link)]


def sources() -> list[Path]:
    code = [path for folder in FOLDERS for ending in ("py", "sql") for path in (ROOT / folder).rglob(f"*.{ending}")]
    return [*code, *(ROOT / "tests" / "traces").glob("*/why.md"), *PAGES]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("rule 4", {4}),
        ("Rules 4, 5 and 8: a row", {4, 5, 8}),
        ("rules 2 to 4, 6 and 7", {2, 3, 4, 6, 7}),
        ("-- Spec    rules 1 and\n--         12, and 30 s", {1, 12}),
        ("rule 2, 60 cars; rule 6: 29 s, ruler 7", {2, 6}),
    ],
)
def test_what_a_citation_names(text, numbers):
    assert cited(text) == numbers


def test_every_rule_that_is_cited_is_written_down():
    written = {int(number) for number in re.findall(r'<a id="rule-(\d+)">', RULES.read_text())}
    assert written == set(range(1, 13))
    citations = {str(path.relative_to(ROOT)): cited(path.read_text()) for path in sources()}
    assert {path: numbers - written for path, numbers in citations.items() if numbers - written} == {}
    assert set().union(*citations.values()) == written


@pytest.mark.parametrize(("page", "link"), [pytest.param(*pair, id=f"{pair[0].name}-{pair[1]}") for pair in links()])
def test_a_link_leads_somewhere(page, link):
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    assert target.exists(), f"{page.name} links to {name}, which does not exist"
    if anchor:
        assert anchor in anchors(target), f"{page.name}: {target.name} has no #{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_path_in_the_text_exists(page):
    paths = set(PATH.findall(page.read_text()))
    assert {path for path in paths if not (ROOT / path).exists()} == set()


def mapped() -> dict[Path, set[str]]:
    """The folders on the map of the code, each with the modules that it lists: as files, or in lines of their own."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    [block] = re.findall(r"^## The map\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    at, found = [ROOT], {ROOT: set()}
    for line in filter(None, block.splitlines()):
        depth = (len(line) - len(line.lstrip())) // 4
        if entry := re.match(r"(\w+)\.py  ", line.lstrip()):
            found[at[depth - 1]].add(entry[1])
        elif entry := re.match(r"\S+/(?=  |$)", line.lstrip()):
            at[depth:] = [at[depth - 1] / entry[0]]
            found[at[-1]] = set()
        else:
            found[at[-1]].update(re.findall(r"\w+", line))
    return found


def test_the_map_shows_every_folder_and_no_other_module():
    on_map = {folder: names for folder, names in mapped().items() if folder.relative_to(ROOT).parts[:1] in CODE}
    assert on_map.keys() == {path.parent for (name,) in CODE for path in (ROOT / name).rglob("__init__.py")}
    modules = {folder: {path.stem for path in folder.glob("[!_]*.py")} for folder in on_map}
    # A folder of many small parts need not list them.
    assert {folder: names for folder, names in on_map.items() if names and names != modules[folder]} == {}


def test_the_readme_is_a_front_door():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    assert re.findall(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b", text) == []
