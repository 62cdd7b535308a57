"""The generators of the reference and the list of names are tools; these tests compare the site with what they say."""

import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[3] / "tools"
sys.path += [str(TOOLS), str(TOOLS / "docs")]
