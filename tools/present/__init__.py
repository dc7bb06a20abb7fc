"""What the pages of tools show: plain values for templates, made from contracts, verdicts and recorded calls."""
