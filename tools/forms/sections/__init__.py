"""The sections of the editor, one module each, named like its template in ``templates/tools/editor/``.

A new field of a contract goes into the section where people look for it: its name into ``FIELDS`` (in the order of the
page), its words into ``LABELS`` and ``HELP_TEXTS``, its place into the template. ``WIDGETS``, ``CHOICES`` (in the words
of people) and ``OTHER_TOOLS`` (fields that name another tool of the tenant) where it needs them; a field that is no plain
model field is declared in the module's ``Declared``. A module may leave out what it does not need.
"""

from tools.forms.sections import agree, call, limits, repeat, world

#: In the order of the page.
SECTIONS = (world, repeat, limits, agree, call)

__all__ = ["SECTIONS", "agree", "call", "limits", "repeat", "world"]
