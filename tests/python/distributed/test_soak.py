"""Many launches with delays and failures: a moment of what `make soak-distributed` does for long."""

import os
import re

from starting import HERE, start


def test_soak():
    seconds = float(os.environ.get("SOAK_SECONDS", "1"))
    codes, output = start("pmi", 4, [HERE / "soak_program.py", seconds, 1]).wait(60 + seconds)
    assert codes == [0] * 4, output
    assert len(re.findall(r"process \d: \d+ rounds, \d+ launches, \d+ failures as drawn", output)) == 4, output
    print(output)
