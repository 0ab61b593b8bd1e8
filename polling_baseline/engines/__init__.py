"""The engines, a package each; they do not import one another."""
