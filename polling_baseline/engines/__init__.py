"""The engines, one module or package each; they do not import one another."""
