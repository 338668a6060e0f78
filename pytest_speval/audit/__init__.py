"""May we ask: what is checked before the first call."""
