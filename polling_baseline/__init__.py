"""The systems under test: what an engine is, and the engines themselves."""
