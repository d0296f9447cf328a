"""What the pages point at is there, and no file of the repository points at what a reader does not have."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.docs.pages import PAGES, ROOT, name

# Put together here, so that this file does not hold what it looks for.
ADDRESSES = tuple(
    f"{host}.{domain}"
    for host, domain in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("crates", "io"))
)
ELSEWHERE = ("../" + "shared", "/work/" + "main", "/work/" + "shared")
MADE = (".venv", ".git", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "__pycache__")


def repository_files() -> list[Path]:
    """The files that are, or would be, committed; without git, all that no tool made."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0 and listed.stdout:
        return [path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file()]
    return [path for path in ROOT.rglob("*") if path.is_file() and not set(path.relative_to(ROOT).parts) & set(MADE)]


def anchors(page: Path) -> set[str]:
    """The headings of a page as they are linked to."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_leads_somewhere() -> None:
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path, _, anchor = target.partition("#")
            there = page.parent / path if path else page
            if not there.exists() or (anchor and anchor not in anchors(there)):
                broken.append((name(page), target))
    assert broken == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop().resolve()
        if page.suffix == ".md" and page not in seen:
            seen.add(page)
            text = page.read_text(encoding="utf-8")
            ahead += [page.parent / target.partition("#")[0] for target in re.findall(r"\]\(([^)\s#]+)", text)]
            ahead = [path for path in ahead if path.is_file()]
    assert [name(page) for page in PAGES if page.resolve() not in seen] == []


def test_no_file_names_a_package_registry_or_a_place_outside_the_repository() -> None:
    found = [
        (str(path.relative_to(ROOT)), word)
        for path in repository_files()
        for word in (*ADDRESSES, *ELSEWHERE)
        if word.encode() in path.read_bytes()
    ]
    assert found == []


def test_the_lock_has_versions_and_hashes_and_no_address() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pinned = re.compile(r"[\w.-]+(\[[\w,]+\])?==\S+( ; .+?)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert [line for line in lines if not pinned.fullmatch(line)] == []
