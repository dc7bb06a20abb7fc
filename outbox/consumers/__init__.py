"""Ways out of the post room, one file each: Celery tasks, channel groups, notes to people, mail. Each takes what one
pass of the relay has for it, bears repeats, and says what it could not take."""
