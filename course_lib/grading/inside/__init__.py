"""What runs in the sandbox: a process that waits, its confinement, and the execution of cells.

These modules and `wire` are all of the grader that a submission can see.
"""
