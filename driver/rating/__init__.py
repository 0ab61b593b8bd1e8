"""How many expressways a system holds, and the paper's tables."""
