"""The pages of the desk. A GET never changes anything; the one POST that decides goes to the decision service."""
