"""How often tasks, files and edits may come in: far above what people and scripts need, far below what a loop does. What
passes is further held by quotas and limits of the tenant."""

from accounts.throttle import Rate

#: Tasks, on the page, over REST, and as test calls of a tool.
START = Rate("start", per_address=1_200, per_person=240, seconds=60)
#: Files; a task takes several.
UPLOAD = Rate("upload", per_address=1_200, per_person=480, seconds=60)
#: Next versions of a proposal.
EDIT = Rate("edit", per_address=600, per_person=120, seconds=60)
