-- Purpose: the database's time.
SELECT clock_timestamp()
