"""Stored sentences are read in the reader's language."""

from django.utils.translation import gettext, override

from accounts.said import read
from runs import sentences
from tools import sentences as of_tools


def test_a_stored_sentence_is_said_in_the_language_of_the_page():
    stored = sentences.DEADLINE()
    with override("zh-hans"):
        assert read(stored) == gettext(sentences.DEADLINE.text) != stored


def test_its_values_stand_as_they_were_written():
    """Also where a value looks like a place for one."""
    stored = sentences.UNKNOWN_TOOL(tool="mail: 100 %(tool)s %d\nnext")
    with override("zh-hans"):
        assert read(stored) == gettext(sentences.UNKNOWN_TOOL.text) % {"tool": "mail: 100 %(tool)s %d\nnext"}


def test_a_sentence_inside_of_a_sentence_is_said_too():
    what = of_tools.SEND(subject="Renewal", to="ann@aldergate.example")
    with override("zh-hans"):
        inner = gettext(of_tools.SEND.text) % {"subject": "Renewal", "to": "ann@aldergate.example"}
        assert read(sentences.DID_IT_HAPPEN(what=what)) == gettext(sentences.DID_IT_HAPPEN.text) % {
            "what": inner
        }


def test_what_nobody_declared_stays_as_it_is():
    with override("zh-hans"):
        assert read("I looked at 3 files.") == "I looked at 3 files."
        assert read("") == ""


def test_english_readers_get_what_is_stored():
    with override("en"):
        assert read(sentences.DEADLINE()) == sentences.DEADLINE()
