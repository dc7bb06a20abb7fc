"""Documents: turn a file a person gave us into text that can be quoted exactly.

Owns: what kind of file it is (by content, never by name), its text, and where in the file every
character stands (page of a PDF, block of a Word file). Every refusal is an `Unreadable` with a code and
plain words: what happened, what was not done, what to do next.

Words: a *span* is a half-open range of offsets into `Document.text`; a *quote* is an exact slice of it.

Dangers: every byte here is hostile. Nothing in this package opens a connection, resolves an entity,
follows a relationship or writes a file, and nothing imports Django or Celery, because it runs inside a
killable child whose CPU, memory and wall limits its parent sets. The limits kept here are the cheap first
line (size before reading, entries before expanding); the child's limits are the last one.

Locks: none. No database.
"""

from runs.documents.document import Document, Span
from runs.documents.errors import Unreadable
from runs.documents.identify import identify
from runs.documents.limits import LIMITS, Limits
from runs.documents.read import Source, read
from runs.documents.sanitize import sanitize_text

__all__ = [
    "LIMITS",
    "Document",
    "Limits",
    "Source",
    "Span",
    "Unreadable",
    "identify",
    "read",
    "sanitize_text",
]
