"""Contract review: what a contract says, quoted, rated and turned into dates and a letter.

Owns: the rules that find fourteen fields in a contract, the rating of their risk, the deadlines they set,
and the report, table and notice letter made of them. `work.py` is the front door: `review_document` for one
file, `join_reviews` for a whole task.

Words: a *finding* is one quote with its field, place, value and rating; a *gap* is a field for which
nothing was found and whose absence is itself a risk; a *correction* is a person's word that a finding is
wrong.

Dangers: a finding is only ever an exact slice of the document (`findings.verify` holds it); where the rules
are not sure they say nothing. The rules are general: no file, party or wording of a particular contract is
named in them. Nothing here is legal advice, and the report says so.

Everything is pure and deterministic, imports neither Django nor Celery, and runs inside a killable child.
"""
