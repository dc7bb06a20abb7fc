"""Pages of this room: they read a form, call one verb, and say what happened."""
