"""Where values lie and when: the plan of a run."""
