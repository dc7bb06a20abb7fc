"""The desk: everything that waits for a person.

Owns: PendingAction, Decision.

Words: *action* = one thing a person must decide · kinds *approve*, *settle*, *take over*, *answer* · *grant* = an
approved action, consumed by one intent · *generation* = the how-many-th version of the same question; a successor shows
the difference · *expire* = time ran out, which denies · *void* = a grant that no longer holds.

Dangers: deciding what was not shown (the digest travels with the form) · deciding twice · the submitter approving his
own request · a link that decides · silence that approves.

Lock order: PendingAction, after Run and Step, before Intent.
"""
