"""The traffic of an expressway: who drives when, how they drive, what they report and what they ask."""
