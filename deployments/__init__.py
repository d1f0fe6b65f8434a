"""Everything that waits, and the wiring."""
