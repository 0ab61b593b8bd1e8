"""Faults planted on purpose: in right outputs, and in a right engine.  How many do the judge and the traces catch?"""
