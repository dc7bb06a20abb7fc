"""Screenshots for docs/screenshots, of the story's own data. Without `SCREENSHOTS=1` nothing is taken."""

from __future__ import annotations

import io
import os
from typing import cast

from PIL import Image
from playwright.sync_api import Page

from tests.browser.visitor import THEMES, Visitor
from tests.needs import ROOT

FOLDER = ROOT / "docs" / "screenshots"
WIDTHS = (1440, 390)
LOWEST, HIGHEST = 900, 1800
COLOURS, COMMON = 256, 192
LANGUAGE = "countersign_language"


def on() -> bool:
    return os.environ.get("SCREENSHOTS") == "1"


def shoot(visitor: Visitor, name: str, *, again: bool = True, highest: int = HIGHEST) -> None:
    """The page as it stands, light and dark, wide and narrow; then in Chinese, for which it is loaded `again`."""
    if not on():
        return
    page = visitor.page
    size = page.viewport_size
    for theme in THEMES:
        visitor.theme(theme)
        for width in WIDTHS:
            _save(page, f"{name}-{theme}-{width}", width, highest)
    if again:
        visitor.context.add_cookies([{"name": LANGUAGE, "value": "zh-hans", "url": page.url}])
        page.reload()
        for width in WIDTHS:
            _save(page, f"{name}-light-{width}-zh", width, highest)
        visitor.context.clear_cookies(name=LANGUAGE)
        page.reload()
    visitor.theme("light")
    if size:
        page.set_viewport_size(size)


def _save(page: Page, name: str, width: int, highest: int) -> None:
    """As high as the page, within reason: what sticks to an edge of the window then stands where it belongs."""
    page.set_viewport_size({"width": width, "height": LOWEST})
    high = page.evaluate(
        "() => Math.max(...[...document.querySelectorAll('html, main, main *')].map((e) => e.scrollHeight))"
    )
    page.set_viewport_size({"width": width, "height": min(max(high, LOWEST), highest)})
    page.mouse.move(0, 0)
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
    FOLDER.mkdir(parents=True, exist_ok=True)
    _with_few_colours(picture.convert("RGB")).save(FOLDER / f"{name}.png", optimize=True)


def _with_few_colours(picture: Image.Image) -> Image.Image:
    """A quarter of the size: the colours that fill areas are kept as they are, the rest goes to the nearest."""
    counted = sorted(picture.getcolors(picture.width * picture.height) or [], reverse=True)
    common = [band for _, colour in counted[:COMMON] for band in cast(tuple[int, ...], colour)]
    rare = picture.quantize(
        COLOURS - COMMON, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    ).getpalette()
    palette = Image.new("P", (1, 1))
    palette.putpalette((common + (rare or []))[: 3 * COLOURS])
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)
