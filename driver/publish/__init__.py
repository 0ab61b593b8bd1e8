"""Results handed on to strangers: bundles, their check, and the board."""
