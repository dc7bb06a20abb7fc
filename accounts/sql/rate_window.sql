-- Count one try against a key in the current window of the database's clock, unless the window is full.
-- Who wins: tries of one key queue on the window's row; one row comes back per allowed try, none when it is full.
-- Lock order: run outside of any other transaction, so that a rolled-back caller cannot give its try back.
INSERT INTO accounts_ratewindow AS seen (key, window_start, count)
VALUES (
    %(key)s,
    date_bin(make_interval(secs => %(seconds)s), coalesce(%(now)s::timestamptz, clock_timestamp()), 'epoch'::timestamptz),
    1
)
ON CONFLICT (key, window_start) DO UPDATE SET count = seen.count + 1 WHERE seen.count < %(limit)s
RETURNING count;
