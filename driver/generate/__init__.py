"""A data set from a seed: simulated traffic and drawn history."""
