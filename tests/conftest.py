"""Settings for every test: timings never decide one."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("citespan", deadline=None)
settings.load_profile("citespan")
