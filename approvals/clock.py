"""The clock of the desk is the clock of the database."""

from datetime import datetime

from django.db import connection


def db_now() -> datetime:
    """This very instant, not the start of the transaction: a decision that had to wait for a lock is judged
    when it got it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        row = cursor.fetchone()
    at: datetime = row[0]
    return at
