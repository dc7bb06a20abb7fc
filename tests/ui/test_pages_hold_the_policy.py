"""No template breaks the content policy, and none writes text that cannot be translated."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "js").glob("*.js"))
COMMENT = re.compile(r"\{% comment %\}.*?\{% endcomment %\}", re.DOTALL)

TAG = re.compile(r"\{%.*?%\}", re.DOTALL)

FORBIDDEN = {
    "inline style": re.compile(r"<style|\sstyle="),
    "inline script": re.compile(r"<script(?![^>]*\ssrc=)"),
    "event attribute": re.compile(r"\son[a-z]+="),
    "htmx script": re.compile(r"hx-on|js:|hx-vars"),
    "other origin": re.compile(r"(?:src|href|action)=\"https?:"),
}


def _source(path: Path) -> str:
    return COMMENT.sub("", path.read_text())


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_template_holds_the_policy(path: Path) -> None:
    html = TAG.sub("", _source(path))
    found = [name for name, pattern in FORBIDDEN.items() if pattern.search(html)]
    assert not found


def test_scripts_run_no_text() -> None:
    for path in SCRIPTS:
        assert not re.search(
            r"\beval\(|new Function|innerHTML|document\.write|setAttribute\(\"style", path.read_text()
        ), path


BARE = re.compile(r">\s*([A-Za-z][a-z]+(?: [a-z]+)+[.!?]?)\s*<")


def test_words_on_pages_go_through_gettext() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {words}"
        for path in TEMPLATES
        if path.name != "styleguide.html"
        for words in BARE.findall(
            re.sub(
                r"\{%.*?%\}",
                "",
                re.sub(r"\{% blocktrans.*?endblocktrans(?:late)? %\}", "", _source(path), flags=re.DOTALL),
            )
        )
    }
    assert not found


CLASS = re.compile(r"\.([a-z][a-z0-9-]*)")


def test_every_class_of_the_style_sheets_is_used() -> None:
    """A class that no page, script or tag writes is left over from something that is gone."""
    sheets = "\n".join(path.read_text() for path in sorted((ROOT / "static" / "css").rglob("*.css")))
    sheets = re.sub(r"/\*.*?\*/|url\([^)]*\)|\"[^\"]*\"", "", sheets, flags=re.DOTALL)
    selectors = " ".join(re.findall(r"([^{};]+)\{", sheets))
    written = "\n".join(_source(path) for path in TEMPLATES) + "\n".join(path.read_text() for path in SCRIPTS)
    written += "\n".join(
        path.read_text()
        for room in ("config", "runs", "approvals", "accounts")
        for path in (ROOT / room).rglob("*.py")
    )
    unused = {
        name
        for name in CLASS.findall(selectors)
        if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", written)
    }
    assert not unused
