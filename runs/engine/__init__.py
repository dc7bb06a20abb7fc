"""The engine: one verb a file. Everything that moves a run goes through one of these.

Owns its transactions: every public verb is one ``atomic(durable=True)`` unless its first line says that it joins.

Lock order: runs in id order, then steps, actions, intents, resource fences, messages, audit head.
"""
