"""How often answers may be given: far above what people do, far below what a loop does."""

from accounts.throttle import Rate

#: Answers, one or many at once, on the page and over REST.
DECIDE = Rate("decide", per_address=600, per_person=120, seconds=60)
