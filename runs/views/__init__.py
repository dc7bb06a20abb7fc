"""Doors of the workshop for people: each view reads, calls one verb, and answers with a page.

No rule lives here. A GET changes nothing. Every id is looked up inside the tenant of the person who asks: a
foreign one is 404, like one that never was.
"""
