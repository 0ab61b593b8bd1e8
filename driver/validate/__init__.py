"""The judge: the right answers, the answers received, and the verdict."""
