"""Properties are never judged by the clock: a loaded machine is no counterexample."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
