"""Signs that hide or pretend are seen."""

import pytest

from config.ui.reveal import odd, reveal


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Halden\u200bFreight", "U+200B zero width space"),
        ("pay \u202e0001 EUR", "U+202E right-to-left override"),
        ("lind\u0435n.example", "U+0435 cyrillic small letter ie"),
        ("p\u03b1y", "U+03B1 greek small letter alpha"),
        ("WSA\u20112024", "U+2011 non-breaking hyphen"),
        ("a\u00a0b", "U+00A0 no-break space"),
        ("a\x07b", "U+0007 control character"),
    ],
)
def test_an_odd_sign_is_named_where_it_stands(text: str, name: str) -> None:
    assert f'<span class="odd">{name}</span>' in reveal(text)


@pytest.mark.parametrize(
    "text",
    [
        "Müller & Søn, 1. März",
        "合同 2024-017，终止通知",
        "Привет, как дела",
        "two\nlines\tand a tab",
        "O’Neill – “quoted”",
    ],
)
def test_ordinary_text_in_any_script_stays_as_it_is(text: str) -> None:
    assert not odd(text)


def test_text_from_outside_is_escaped() -> None:
    assert reveal("<script>\u200b</script>") == (
        '&lt;script&gt;<span class="odd">U+200B zero width space</span>&lt;/script&gt;'
    )


def test_a_look_alike_still_shows_the_letter_itself() -> None:
    assert "lind\u0435<span" in reveal("lind\u0435n.example")
