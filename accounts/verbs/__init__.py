"""What people do in this room, one verb a file. Each owns its transaction, checks the actor's rights inside
it and leaves an audit entry."""
