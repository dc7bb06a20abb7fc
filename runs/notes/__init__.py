"""What the submitter is told of their task, one module for each topic of the outbox."""
