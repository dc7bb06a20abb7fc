-- Purpose: confirmed and unanswered reports of duplicates. A row for each report. Takes no locks.
SELECT count(*) FILTER (WHERE d.confirmed), count(*) FILTER (WHERE d.confirmed IS NULL) FROM tools_duplicatereport d
