"""The table test uses the samples and the bounds of the CPU."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "primitives"))
