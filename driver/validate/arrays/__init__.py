"""The right answers as arrays, in a few Spark tasks: a second reading of the rules that costs a fifth of the tables'.

It can say that an output has all right answers, and how late they came.  What is not right is left to the tables of
`driver.validate.reference`, which can explain it.  The two share numbers and formats, and the journeys of rule 12.
"""
