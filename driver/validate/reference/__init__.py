"""The right answers, from the specification alone: the judge's side, which shares no rule with any engine.

They are arrays, a few large ones in each task of Spark.  The tests hold them against a second reading of the rules, as
tables of Spark (`tests/support/tables`).  The two share numbers, formats and the journeys of rule 12.
"""
