"""A letter after an approver asked for changes. What is asked in one of a few plain forms is done; nothing is guessed.

Each line of the comment is one wish. Followed are, in English and Chinese::

    Subject: Our lease                      主题：我们的租约
    Replace "sixty" with "60"               把“六十”改成“60”
    Remove "Kind regards"                   删去“此致”
    Add "Please answer by Friday."          加上“请在周五前答复。”

Anything else is for a person to write.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_QUOTED: Final = r"[\"“”「](?P<{0}>[^\"“”「」]+)[\"“”」]"
_A, _B = _QUOTED.format("a"), _QUOTED.format("b")
_FORMS: Final = (
    ("subject", re.compile(r"(?:subject|主题|标题)\s*[:：]\s*(?P<a>.+)", re.IGNORECASE)),
    ("replace", re.compile(rf"replace\s+{_A}\s+(?:with|by)\s+{_B}\.?", re.IGNORECASE)),
    ("replace", re.compile(rf"把\s*{_A}\s*(?:改成|改为|换成)\s*{_B}。?")),
    ("remove", re.compile(rf"(?:remove|delete|leave out)\s+{_A}\.?", re.IGNORECASE)),
    ("remove", re.compile(rf"(?:删去|删除)\s*{_A}。?")),
    ("add", re.compile(rf"add\s+{_A}\.?", re.IGNORECASE)),
    ("add", re.compile(rf"(?:加上|添加)\s*{_A}。?")),
)
#: The letter ends with these; what is added stands before them.
_CLOSE: Final = "\nPlease confirm receipt of this message."


@dataclass(frozen=True, slots=True)
class Revised:
    """The letter as it reads now, and the wishes that were not understood or found nothing to change."""

    subject: str
    body: str
    left: tuple[str, ...]


def revise(letter: Mapping[str, Any], comment: str) -> Revised:
    """``letter`` has ``subject`` and ``body``. Pure."""
    subject, body = str(letter["subject"]), str(letter["body"])
    left = []
    for wish in filter(None, (line.strip(" -*\t") for line in comment.splitlines())):
        done = _follow(wish, subject, body)
        if done is None:
            left.append(wish)
        else:
            subject, body = done
    return Revised(subject, body, tuple(left))


def _follow(wish: str, subject: str, body: str) -> tuple[str, str] | None:
    """Subject and body after one wish; None when it is none of the forms or changes nothing."""
    for what, form in _FORMS:
        if found := form.fullmatch(wish):
            said = {name: value.strip() for name, value in found.groupdict().items() if value}
            now = _changed(what, said, subject, body)
            return now if now != (subject, body) and now[0].strip() and now[1].strip() else None
    return None


def _changed(what: str, said: Mapping[str, str], subject: str, body: str) -> tuple[str, str]:
    a = said["a"]
    match what:
        case "subject":
            return a, body
        case "replace":
            return subject.replace(a, said["b"]), body.replace(a, said["b"])
        case "remove":
            return subject.replace(a, ""), re.sub(r"\n{3,}", "\n\n", body.replace(a, ""))
        case _:
            before, close, after = body.partition(_CLOSE)
            return subject, f"{before}\n{a}\n{close}{after}" if close else f"{body.rstrip()}\n\n{a}\n"
