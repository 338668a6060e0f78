"""From evidence to result: the one pure path of every run, whether its answers are fresh or stored."""
