import re
from pathlib import Path

TABLE = Path(__file__).parents[2] / "docs" / "bug-classes.md"


def test_every_test_that_the_table_of_bug_classes_names_is_there() -> None:
    missing: list[str] = []
    for row in TABLE.read_text().splitlines():
        file = ""
        for named in re.findall(r"`([a-z_]*(?:\.py)?)::(test_[a-z_]+)`", row):
            file = named[0] or file
            source = (Path(__file__).parent / file).read_text()
            if f"def {named[1]}(" not in source:
                missing.append(f"{file}::{named[1]}")
    assert missing == []
