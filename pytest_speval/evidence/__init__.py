"""What happened: the question asked, the plan it was asked under, the journal of calls, the run folder."""
