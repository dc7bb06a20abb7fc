"""A git repository, and an MCP server over it that nobody here wrote: `mcp-server-git`, of the protocol's own makers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SERVER = "books"
_WHO = {"GIT_AUTHOR_NAME": "Linden", "GIT_AUTHOR_EMAIL": "books@linden.example"}
_WHO |= {"GIT_COMMITTER_NAME": "Linden", "GIT_COMMITTER_EMAIL": "books@linden.example"}


@dataclass(frozen=True)
class Books:
    """One repository. It is asked with git itself, never through the product."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Books:
        """With one commit, and a change that is staged and not committed."""
        made = cls(folder)
        if not (folder / ".git").exists():
            folder.mkdir(parents=True, exist_ok=True)
            made.git("init", "--quiet", "--initial-branch=main")
            (folder / "ledger.txt").write_text("opening balance\n")
            made.git("add", "ledger.txt")
            made.git("commit", "--quiet", "-m", "Open the books")
        made.stage()
        return made

    def stage(self) -> None:
        """One more line that nobody has committed."""
        with (self.folder / "ledger.txt").open("a") as ledger:
            ledger.write("a line\n")
        self.git("add", "ledger.txt")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **_WHO},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def commits(self, subject: str) -> int:
        """How many commits say this."""
        return self.git("log", "--format=%s").splitlines().count(subject)

    @property
    def setting(self) -> str:
        """What the deployment says of the server."""
        command = [str(Path(sys.executable).with_name("mcp-server-git")), "--repository", str(self.folder)]
        server = {"command": command, "cwd": str(self.folder), "env": _WHO, "tenants": ["linden"]}
        return json.dumps({SERVER: server})
