-- Purpose: what nodes measured is kept for a week; every node forgets for all of them.
DELETE FROM runs_leasemeasure WHERE hour < clock_timestamp() - interval '8 days'
