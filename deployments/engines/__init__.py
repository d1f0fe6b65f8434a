"""Everything that can run a seeded canvas."""
