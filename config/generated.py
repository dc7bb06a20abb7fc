"""Pages of the documentation that are written from the code."""

from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser


class PageCommand(BaseCommand):
    """``manage.py NAME [--check]`` writes the page ``file``, or fails when it is not what the code says now."""

    file: ClassVar[Path]

    def page(self) -> str:
        """The whole page as Markdown."""
        raise NotImplementedError

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="fail when the page is not fresh")

    def handle(self, *args: Any, check: bool = False, **options: Any) -> None:
        path, fresh = Path(settings.BASE_DIR) / self.file, self.page()
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fresh, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != fresh:
            raise CommandError(
                f"{self.file} is out of date. Run: manage.py {type(self).__module__.rpartition('.')[2]}"
            )
