"""Icons as inline SVG, drawn on the server.

States have marks of their own, each with a shape that no other has, so that colour never carries the meaning
alone (WCAG 2.2, 1.4.1). Everything else comes from the ``lucide`` set.
"""

from typing import Final

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from lucide.templatetags.lucide import lucide

# Every string below is drawn here and holds nothing from outside, so it is marked safe where it is used.
MARKS: Final[dict[str, str]] = {
    "running": '<circle cx="8" cy="8" r="6" opacity=".35"/><path d="M8 2a6 6 0 0 1 6 6"/>'
    '<circle cx="8" cy="8" r="1" fill="currentColor"/>',
    "waiting": '<circle cx="8" cy="8" r="6"/><path d="M8 4.5V8l2.5 1.5"/>',
    "done": '<circle cx="8" cy="8" r="6"/><path d="m5.3 8.2 1.9 1.9 3.6-3.9"/>',
    "failed": '<rect x="2.25" y="2.25" width="11.5" height="11.5" rx="1"/>'
    '<path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4"/>',
    "unknown": '<path d="M8 1.6 14.4 8 8 14.4 1.6 8Z"/>'
    '<path d="M6.6 6.9a1.45 1.45 0 1 1 2.1 1.25c-.5.25-.7.5-.7.95"/><path d="M8 10.9v.05"/>',
    "paused": '<circle cx="8" cy="8" r="6"/><path d="M6.5 6v4M9.5 6v4"/>',
    "stopping": '<circle cx="8" cy="8" r="6" stroke-dasharray="2.4 2.3"/>'
    '<rect x="6" y="6" width="4" height="4" fill="currentColor" stroke="none"/>',
    "stopped": '<circle cx="8" cy="8" r="6"/><path d="m3.9 12.1 8.2-8.2"/>',
    "tocome": '<circle cx="8" cy="8" r="6" stroke-dasharray="1.6 2.17"/>',
    "person": '<circle cx="8" cy="5.2" r="2.7"/><path d="M2.8 14c.4-2.9 2.4-4.6 5.2-4.6s4.8 1.7 5.2 4.6"/>',
    "auto": '<circle cx="8" cy="8" r="6"/><path d="M5.2 8h5.4M8.5 5.9 10.6 8 8.5 10.1"/>',
    "undoing": '<path d="M5.8 9.6 2.6 6.4l3.2-3.2"/><path d="M2.6 6.4h7a3.8 3.8 0 0 1 0 7.6H7"/>',
}

SEAL: Final = (
    '<path d="M8 .8a3 3 0 0 0-2.2 5.05c.45.5.6.95.5 1.6L6.1 8.6H3.6A1.6 1.6 0 0 0 2 10.2V12h12v-1.8'
    'a1.6 1.6 0 0 0-1.6-1.6H9.9l-.2-1.15c-.1-.65.05-1.1.5-1.6A3 3 0 0 0 8 .8Z"/>'
    '<rect x="2" y="13.2" width="12" height="1.8"/>'
)

BRAND: Final = (
    '<rect x="2.5" y="2.5" width="19" height="19" rx="1.5"/>'
    '<path d="M8 14.2 11.4 6.7M12.8 14.2l3.4-7.5M7 17.8h10"/>'
)


def svg(name: str, *, size: str = "", label: str = "") -> SafeString:
    """Draw one icon.

    ``size`` is "" (16 px), "s" (14 px) or "l" (20 px). With a ``label`` the icon is an image with that name;
    without one it is decoration and hidden from assistive technology. Raises ``lucide.IconDoesNotExist`` for
    a name that neither the marks nor lucide know.
    """
    css = "icon" + (f" {size}" if size else "")
    role = format_html('role="img" aria-label="{}"', label) if label else SafeString('aria-hidden="true"')
    if name == "seal":
        return format_html('<svg class="glyph" viewBox="0 0 16 16" {}>{}</svg>', role, SafeString(SEAL))
    if name == "brand":
        return format_html('<svg viewBox="0 0 24 24" {}>{}</svg>', role, SafeString(BRAND))
    if name in MARKS:
        css += " turning" if name == "running" else ""
        return format_html(
            '<svg class="{}" viewBox="0 0 16 16" {}>{}</svg>', css, role, SafeString(MARKS[name])
        )
    attributes = {
        "class": css,
        **({"role": "img", "aria-label": escape(label)} if label else {"aria-hidden": "true"}),
    }
    return SafeString(lucide(name, size=None, **attributes))
