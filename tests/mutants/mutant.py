"""One guard, switched off."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """``old`` stands in one place of ``file`` and becomes ``new``; then one of ``tests`` must fail.

    ``number`` is that of the fault (``B41``); ``guard`` says in a few words what is switched off; ``tests`` are ids of pytest.
    """

    number: str
    guard: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def schema(self) -> bool:
        """Whether the test database has to be made anew for it."""
        return "/migrations/" in self.file

    def applied(self, text: str) -> str:
        """The file with the guard off. Raises ValueError when the guard is not where it was."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"{self.file}: the text of the guard stands there {found} times, not once")
        return text.replace(self.old, self.new)
