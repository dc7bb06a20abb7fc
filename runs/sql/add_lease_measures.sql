-- Purpose: add what a node measured to its histogram of this hour. The only writer of these rows is that node's keeper.
INSERT INTO runs_leasemeasure (worker_id, hour, what, bucket, count)
SELECT %(worker)s, date_trunc('hour', clock_timestamp()), m.what, m.bucket, m.count
FROM jsonb_to_recordset(%(measures)s::text::jsonb) AS m(what text, bucket int, count bigint)
ON CONFLICT (worker_id, hour, what, bucket) DO UPDATE SET count = runs_leasemeasure.count + excluded.count
