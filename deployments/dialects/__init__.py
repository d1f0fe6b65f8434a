"""Wire forms of the Decision API: bytes' JSON in, questions out; decisions in, JSON out. No I/O, no engine."""
