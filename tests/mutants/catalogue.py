"""Every mutant, in the order of the fault numbers."""

from __future__ import annotations

from tests.mutants.adapters import ADAPTERS
from tests.mutants.context import CONTEXT
from tests.mutants.desk import DESK
from tests.mutants.edges import EDGES
from tests.mutants.engine import ENGINE
from tests.mutants.fencing import FENCING
from tests.mutants.gate import GATE
from tests.mutants.growth import GROWTH
from tests.mutants.guard import GUARD
from tests.mutants.leases import LEASES
from tests.mutants.limits import LIMITS
from tests.mutants.machine import MACHINE
from tests.mutants.mcp import MCP
from tests.mutants.mutant import Mutant
from tests.mutants.notify import NOTIFY
from tests.mutants.people import PEOPLE
from tests.mutants.postroom import POSTROOM
from tests.mutants.proposals import PROPOSALS
from tests.mutants.recovery import RECOVERY
from tests.mutants.rights import RIGHTS
from tests.mutants.storage import STORAGE
from tests.mutants.timing import TIMING
from tests.mutants.undo import UNDO
from tests.mutants.unknown import UNKNOWN
from tests.mutants.workbench import WORKBENCH

#: What issues 2 to 5 have to cover (faults.md; C: its security checklist): each number has a mutant here and a test of that name.
NUMBERS = (
    ["B12", "B16", "B17", "B41", "B42", "B43", "B50", "B51", "B52", "B54", "B57", "B58", "B59", "B70", "B72", "B74", "B78", "B79", "B80", "B81", "B82", "B83", "B86", "B87",
     "B02", "B07", "B20", "B21", "B23", "B35", "B36", "B37", "B38", "B39", "B40", "B41", "B44",
     "B01", "B04",
     "B03", "B05", "B08", "B09", "B14", "B27", "B32", "B33",
     "B13", "B15", "B28", "B29", "B31", "B45", "B46", "B61",
     "B06", "B18", "B19", "B24", "B25", "B26", "B30", "B48",
     "B62",
     "B34", "B47",
     "B75",
     "B67", "B76",
     "B68",
     "B53", "B55", "B56", "B60", "B63", "B64", "B65", "B66", "B85", "B71", "B73", "C05", "C06", "C07", "C10", "C11", "C20", "C21", "C22", "C23",
     "B22", "B77",
     "B49",
     "B88"]
)  # fmt: skip

#: In order of number; those that need a database of their own come last, so that it is made anew least often.
MUTANTS: tuple[Mutant, ...] = tuple(
    sorted(
        (
            *ENGINE,
            *PEOPLE,
            *DESK,
            *EDGES,
            *FENCING,
            *LEASES,
            *LIMITS,
            *RECOVERY,
            *RIGHTS,
            *CONTEXT,
            *GROWTH,
            *STORAGE,
            *MACHINE,
            *WORKBENCH,
            *ADAPTERS,
            *MCP,
            *GATE,
            *GUARD,
            *POSTROOM,
            *NOTIFY,
            *UNKNOWN,
            *UNDO,
            *TIMING,
            *PROPOSALS,
        ),
        key=lambda mutant: (mutant.schema, mutant.number[0], int(mutant.number[1:])),
    )
)
