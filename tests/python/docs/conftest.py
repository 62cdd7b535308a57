"""The generators of the reference and the list of names are tools. These tests compare the site with their output."""

import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[3] / "tools"
sys.path += [str(TOOLS), str(TOOLS / "docs")]
