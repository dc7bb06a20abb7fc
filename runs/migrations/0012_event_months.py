"""History is kept by months, and retention may take the payload of an event away, nothing else.

The rows of the old table are copied, month by month of their time; everything after that goes to the partition of its
month, or to ``runs_event_default`` when the duty that makes months ahead has not run for months. There is no way back: the
numbers that the rows had beside their key are gone.
"""

import django.db.models.deletion
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

ERASE = """
CREATE FUNCTION keep_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.erased IS NULL AND length(NEW.erased) = 32 AND NEW.payload = '{}'
            AND to_jsonb(NEW) - 'payload' - 'erased' = to_jsonb(OLD) - 'payload' - 'erased'
            AND EXISTS (SELECT 1 FROM runs_run r WHERE r.id = OLD.run_id AND r.erased_at IS NOT NULL) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;
"""
TABLE = """
ALTER TABLE runs_event RENAME TO runs_event_before;
ALTER TABLE runs_event_before RENAME CONSTRAINT runs_event_pkey TO runs_event_before_pkey;
CREATE TABLE runs_event (
    run_id uuid NOT NULL,
    sequence bigint NOT NULL CONSTRAINT event_sequence_from_one CHECK (sequence > 0),
    at timestamptz NOT NULL,
    tenant_id uuid NOT NULL,
    step_id uuid,
    epoch integer NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    fence bigint NOT NULL DEFAULT 0,
    type varchar(40) NOT NULL,
    actor varchar(60) NOT NULL DEFAULT 'engine',
    input_digest varchar(64) NOT NULL DEFAULT '',
    artifacts varchar(64)[] NOT NULL,
    payload jsonb NOT NULL,
    hash bytea NOT NULL,
    erased bytea,
    PRIMARY KEY (run_id, sequence, at),
    CONSTRAINT event_run FOREIGN KEY (run_id) REFERENCES runs_run (id) DEFERRABLE INITIALLY DEFERRED
) PARTITION BY RANGE (at);
CREATE TABLE runs_event_default PARTITION OF runs_event DEFAULT;
"""
MONTHS = """
DO $$
DECLARE
    first date := (SELECT date_trunc('month', COALESCE(min(at), now()) AT TIME ZONE 'UTC') FROM runs_event_before);
    last date := date_trunc('month', now() AT TIME ZONE 'UTC') + interval '3 months';
    month date;
BEGIN
    FOR month IN SELECT generate_series(first, last, interval '1 month') LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF runs_event FOR VALUES FROM (%L) TO (%L)',
            'runs_event_' || to_char(month, '"y"YYYY"m"MM'), month::text || ' 00:00+00',
            (month + interval '1 month')::date::text || ' 00:00+00');
    END LOOP;
END $$;
INSERT INTO runs_event (run_id, sequence, at, tenant_id, step_id, epoch, fence, type, actor, input_digest, artifacts,
                        payload, hash)
SELECT run_id, sequence, at, tenant_id, step_id, epoch, fence, type, actor, input_digest, artifacts, payload, hash
FROM runs_event_before;
DROP TABLE runs_event_before;
"""
TRIGGERS = """
CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON runs_event
    FOR EACH ROW EXECUTE FUNCTION keep_event();
CREATE TRIGGER event_no_truncate BEFORE TRUNCATE ON runs_event
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
DO $$
DECLARE part regclass;
BEGIN
    FOR part IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'runs_event'::regclass LOOP
        EXECUTE format('CREATE TRIGGER event_no_truncate BEFORE TRUNCATE ON %s
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', part);
    END LOOP;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0011_restore")]
    operations = [
        migrations.AddField("run", "erased_at", models.DateTimeField(null=True, blank=True)),
        migrations.AddConstraint(
            "run",
            models.CheckConstraint(
                condition=models.Q(erased_at__isnull=True) | models.Q(finished_at__isnull=False),
                name="run_erased_has_ended",
            ),
        ),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["tenant", "finished_at"],
                name="run_to_erase",
                condition=models.Q(finished_at__isnull=False, erased_at__isnull=True),
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL([ERASE]),
                migrations.RunSQL([TABLE]),
                migrations.RunSQL([MONTHS]),
                migrations.RunSQL([TRIGGERS]),
            ],
            state_operations=[
                migrations.DeleteModel("Event"),
                migrations.CreateModel(
                    name="Event",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "run_id",
                                "sequence",
                                "at",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("sequence", models.BigIntegerField()),
                        ("step_id", models.UUIDField(blank=True, null=True)),
                        ("type", models.CharField(max_length=40)),
                        ("actor", models.CharField(db_default="engine", default="engine", max_length=60)),
                        ("epoch", models.PositiveIntegerField(db_default=0, default=0)),
                        ("fence", models.BigIntegerField(db_default=0, default=0)),
                        (
                            "input_digest",
                            models.CharField(blank=True, db_default="", default="", max_length=64),
                        ),
                        ("artifacts", ArrayField(models.CharField(max_length=64), default=list)),
                        ("payload", models.JSONField(default=dict)),
                        ("at", models.DateTimeField()),
                        ("hash", models.BinaryField(max_length=32)),
                        ("erased", models.BinaryField(blank=True, max_length=32, null=True)),
                        (
                            "run",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="events",
                                to="runs.run",
                            ),
                        ),
                        (
                            "tenant",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="accounts.tenant",
                            ),
                        ),
                    ],
                    options={
                        "base_manager_name": "everywhere",
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(sequence__gt=0), name="event_sequence_from_one"
                            )
                        ],
                    },
                    managers=[
                        ("objects", models.manager.Manager()),
                        ("everywhere", models.manager.Manager()),
                    ],
                ),
            ],
        ),
    ]
