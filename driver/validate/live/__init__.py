"""The judge beside a run: the same right answers and the same comparison, a minute at a time."""
