"""What is asked: strict loading of suites and gate files into frozen specs."""
