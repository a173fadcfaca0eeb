"""Hypothesis draws the same cases in every run of the suite, and no test is timed."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("course", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "course"))
