"""Every text that people read exists in both languages, and the compiled catalogue is the one of the sources.

Works without the gettext programs: a bare machine that runs the product can run these tests too.
"""

import ast
import gettext
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils.translation.template import templatize

from config.messages import ROOMS

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES"
PLACEHOLDER = re.compile(r"%\([a-z_]+\)s|%s|%d")
CALL = re.compile(
    r"\b(n?p?gettext)\((u'(?:[^'\\]|\\.)*'(?:, u'(?:[^'\\]|\\.)*')*|u\"(?:[^\"\\]|\\.)*\"(?:, u[\"'].*?[\"'])*)"
)
#: Which arguments hold the context, the singular and the plural.
SHAPES = {
    "gettext": (None, 0, None),
    "ngettext": (None, 0, 1),
    "pgettext": (0, 1, None),
    "npgettext": (0, 1, 2),
}
NAMES = {"_": "gettext", "gettext_noop": "gettext", **{name: name for name in SHAPES}} | {
    f"{name}_lazy": name for name in SHAPES
}

Text = tuple[str, str, str]  # context, singular, plural ("" where there is none)


def _catalogue() -> dict[Text, tuple[str, ...]]:
    """The source catalogue: text → its translations. Raises for an entry marked as guessed."""
    found: dict[Text, tuple[str, ...]] = {}
    for block in (CATALOGUE / "django.po").read_text().split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#~")]
        assert not any(line.startswith("#,") and "fuzzy" in line for line in lines), block
        fields: dict[str, str] = {}
        name = ""
        for line in lines:
            if line.startswith("#"):
                continue
            word, _, quoted = line.partition(" ") if not line.startswith('"') else (name, "", line)
            name = word
            fields[name] = fields.get(name, "") + ast.literal_eval(quoted)
        if fields.get("msgid"):
            key = (fields.get("msgctxt", ""), fields["msgid"], fields.get("msgid_plural", ""))
            found[key] = tuple(text for name, text in fields.items() if name.startswith("msgstr"))
    return found


def _text(function: str, arguments: list[object]) -> Text | None:
    places = SHAPES[function]
    values = [arguments[place] if place is not None and place < len(arguments) else "" for place in places]
    return (
        (str(values[0]), str(values[1]), str(values[2]))
        if all(isinstance(one, str) for one in values)
        else None
    )


def _of_python(path: Path) -> Iterator[Text]:
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in NAMES:
            values = [one.value if isinstance(one, ast.Constant) else None for one in node.args]
            text = _text(NAMES[name], list(values))
            if text is not None:
                yield text


def _of_template(path: Path) -> Iterator[Text]:
    for function, arguments in CALL.findall(templatize(path.read_text())):
        text = _text(function, list(ast.literal_eval(f"({arguments},)")))
        if text is not None:
            yield text


def _sources() -> Iterator[tuple[Path, Text]]:
    for room in ROOMS:
        # "templates" is among the rooms; it holds no Python.
        for path in sorted((ROOT / room).rglob("*.py")):
            yield from ((path, text) for text in _of_python(path))
    for path in sorted((ROOT / "templates").rglob("*.*")):
        yield from ((path, text) for text in _of_template(path))


def test_every_text_of_the_product_is_in_the_catalogue() -> None:
    known = {(context, singular) for context, singular, _ in _catalogue()}
    missing = {
        f"{path.relative_to(ROOT)}: {text[1]}"
        for path, text in _sources()
        if text[1] and (text[0], text[1]) not in known
    }
    assert not missing, "run `make messages`, translate, commit: " + "; ".join(sorted(missing))


def test_every_text_of_the_catalogue_is_translated() -> None:
    assert [key for key, texts in _catalogue().items() if not all(texts) or not texts] == []


def test_placeholders_are_the_same_in_both_languages() -> None:
    wrong = [
        (key, texts)
        for key, texts in _catalogue().items()
        for text in texts
        if sorted(PLACEHOLDER.findall(text))
        not in [sorted(PLACEHOLDER.findall(one)) for one in key[1:] if one]
    ]
    assert wrong == []


def test_the_compiled_catalogue_is_the_one_of_the_source() -> None:
    with (CATALOGUE / "django.mo").open("rb") as file:
        compiled = dict(vars(gettext.GNUTranslations(file))["_catalog"])
    compiled.pop("", None)
    expected: dict[object, str] = {}
    for (context, singular, plural), texts in _catalogue().items():
        name = f"{context}\x04{singular}" if context else singular
        expected |= {(name, i): text for i, text in enumerate(texts)} if plural else {name: texts[0]}
    assert compiled == expected


@pytest.mark.parametrize(
    "words", [("Unknown outcome", "结果不明"), ("Claim", "认领"), ("COUNTERSIGNED", "已会签")]
)
def test_the_words_of_the_glossary_are_the_words_of_the_pages(words: tuple[str, str]) -> None:
    assert _catalogue()[("", words[0], "")] == (words[1],)
    assert words[1] in (ROOT / "docs" / "reference" / "glossary-zh.md").read_text()
