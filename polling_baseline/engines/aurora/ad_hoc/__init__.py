"""Ad-hoc queries to a network that runs: conditions, the boxes of a query, and the desk where others ask."""
