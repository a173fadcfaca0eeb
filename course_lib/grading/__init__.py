"""Executes and scores submissions: `python -m course_lib grade FOLDER --lab 01 --out RESULTS`.

A submission runs in a process of its own, limited and cut off as far as the system allows, and is
asked for values; they are compared here, in the grader's process. What that does and does not
promise stands in the chapter for instructors.
"""
