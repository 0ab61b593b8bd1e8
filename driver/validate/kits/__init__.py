"""Linear Road as other kits read it: their rules and the layouts of their files.

Nothing here is shared with the judge's own reading, so each may differ in any point.
"""
