"""The experiment: data sets, runs, verdicts and reports, the same whatever the engine."""
