"""Who reads it: one output per file, each made from a result."""
