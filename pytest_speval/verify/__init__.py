"""Is it true: from the evidence of a run to its result once more, and whether the same bytes come out."""
