"""Collects the texts of pages and compiles their translations; `--check` proves that both are up to date.

Compiled catalogues are kept in the repository, because a bare machine has no gettext programs.
"""

from __future__ import annotations

import argparse
import gettext
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = ("zh_Hans",)
ROOMS = ("accounts", "approvals", "config", "demo", "outbox", "runs", "templates", "tools")
CATALOGUE = "LC_MESSAGES/django"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make messages", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail when something is missing")
    check: bool = parser.parse_args().check
    if shutil.which("xgettext") is None:
        print("The gettext programs are not installed. Nothing was done. On Debian: apt-get install gettext")
        return 1
    problems = [problem for language in LANGUAGES for problem in (_check if check else _renew)(language)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def _renew(language: str) -> list[str]:
    _collect(ROOT, language)
    catalogue = ROOT / "locale" / language / CATALOGUE
    _compile(catalogue.with_suffix(".po"), catalogue.with_suffix(".mo"))
    return _gaps(catalogue.with_suffix(".po"), language)


def _check(language: str) -> list[str]:
    catalogue = ROOT / "locale" / language / CATALOGUE
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        for name in (*ROOMS, "locale"):
            shutil.copytree(ROOT / name, copy / name)
        _collect(copy, language)
        problems = _gaps(copy / "locale" / language / f"{CATALOGUE}.po", language)
        fresh = Path(folder) / "fresh.mo"
        _compile(catalogue.with_suffix(".po"), fresh)
        compiled = catalogue.with_suffix(".mo")
        if not compiled.exists() or _texts(compiled) != _texts(fresh):
            problems.append(f"{language}: the compiled catalogue is old; run `make messages` and commit it")
    return problems


def _collect(root: Path, language: str) -> None:
    """Django's collector; it writes `locale/<language>/LC_MESSAGES/django.po` below `root`."""
    command = [sys.executable, "-m", "django", "makemessages", "--locale", language, "--no-location"]
    subprocess.run(
        [*command, "--ignore", ".venv", "--ignore", "data", "--ignore", "tests"],
        cwd=root,
        check=True,
        capture_output=True,
    )


def _compile(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["msgfmt", "--check-format", "-o", str(target), str(source)], check=True)


def _texts(path: Path) -> dict[object, str]:
    with path.open("rb") as file:
        catalogue: dict[object, str] = dict(vars(gettext.GNUTranslations(file))["_catalog"])
    catalogue.pop("", None)
    return catalogue


def _gaps(source: Path, language: str) -> list[str]:
    """Texts that a reader of that language would see in English, or in somebody's guess."""
    gaps = []
    for kind, option in (("not translated", "--untranslated"), ("guessed (fuzzy)", "--only-fuzzy")):
        command = ["msgattrib", option, "--no-obsolete", "--no-wrap", str(source)]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        texts = [
            line[7:-1] for line in found.splitlines() if line.startswith('msgid "') and line != 'msgid ""'
        ]
        gaps += [f"{language}: {kind}: {text}" for text in texts]
    return gaps


if __name__ == "__main__":
    sys.exit(main())
