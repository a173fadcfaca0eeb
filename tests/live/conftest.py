"""One browser for all tests with a kernel."""

from __future__ import annotations

import pytest

from tools import browser


@pytest.fixture(scope="session")
def chromium():
    with browser.chromium() as running:
        yield running
