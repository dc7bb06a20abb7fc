"""Fields that several sections of the editor use."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from accounts.canonical import BadInput, strict_loads
from tools import spans


class Json(forms.CharField):
    """JSON in a text area: no key twice, no number that is none, no depth without end."""

    widget = forms.Textarea(attrs={"rows": 6, "class": "input mono", "spellcheck": "false"})

    def prepare_value(self, value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value or {}, indent=2, ensure_ascii=False)

    def to_python(self, value: Any) -> Any:
        if isinstance(value, dict):
            return value
        try:
            read = strict_loads(str(value or "{}"))
        except BadInput as bad:
            raise ValidationError(
                _("This is no JSON that can be kept: %(why)s"), params={"why": bad.text}
            ) from bad
        if not isinstance(read, dict):
            raise ValidationError(_("A JSON object is needed, in braces."))
        return read


class Words(forms.CharField):
    """A list, separated by commas or line ends."""

    def prepare_value(self, value: Any) -> str:
        return ", ".join(value) if isinstance(value, list) else str(value or "")

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):
            return value
        words = str(value or "").replace("\n", ",").split(",")
        return [word.strip() for word in words if word.strip()]


class Span(forms.CharField):
    """A length of time as people write it; seconds. Nothing is 0."""

    def __init__(self, *, most: int, **kwargs: Any) -> None:
        super().__init__(required=False, widget=forms.TextInput(attrs={"maxlength": 60}), **kwargs)
        self.most = most

    def prepare_value(self, value: Any) -> str:
        if isinstance(value, int):
            return spans.words(value) if value else ""
        return str(value or "")

    def to_python(self, value: Any) -> Any:
        read = value if isinstance(value, int) else spans.read(str(value or "")[:60])
        if read is None or read < 0:
            raise ValidationError(_("A time is needed, such as 4 h, 30 min, 2 days or 1 d 12 h."))
        if read > self.most:
            raise ValidationError(_("At most %(most)s."), params={"most": spans.words(self.most)})
        return read
