"""`python -m tests.mutants [number …]`: exit code 0 when every guard that is switched off is noticed."""

from __future__ import annotations

import sys

from tests.mutants.catalogue import MUTANTS
from tests.mutants.run import run_all


def main() -> int:
    wanted = {word.upper() for word in sys.argv[1:]}
    chosen = [mutant for mutant in MUTANTS if not wanted or mutant.number in wanted]
    unknown = wanted - {mutant.number for mutant in MUTANTS}
    if unknown:
        print(f"No mutant has the number {', '.join(sorted(unknown))}. Nothing was run.")
        return 2
    return run_all(chosen)


if __name__ == "__main__":
    sys.exit(main())
