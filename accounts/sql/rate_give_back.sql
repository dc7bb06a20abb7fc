-- Give back one try that turned out to be no failure. Who wins: one row, one decrement; never below zero.
UPDATE accounts_ratewindow
SET count = count - 1
WHERE key = %(key)s
  AND window_start = date_bin(
      make_interval(secs => %(seconds)s), coalesce(%(now)s::timestamptz, clock_timestamp()), 'epoch'::timestamptz
  )
  AND count > 0;
