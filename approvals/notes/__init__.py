"""What people are told of actions, one module for each topic of the outbox. Reading a note decides nothing: its link only
opens the page, and of what would be sent it holds no more than the sentence."""
