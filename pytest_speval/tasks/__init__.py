"""What answers amount to: one file per task, over the arithmetic of `scoring/`."""
