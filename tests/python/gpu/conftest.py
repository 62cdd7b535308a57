"""The samples and the bounds of the table test are those of the CPU's."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "ops"))
