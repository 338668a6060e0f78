"""Who answers: the protocols of adapters and one back end per file."""
