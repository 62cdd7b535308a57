"""Checks that no folder has more than 40 files of its own, so that a reader sees it at a glance.

Counts the files in git, and new files that git does not ignore. Prints each larger folder and exits with 1.
"""

import collections
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 40


def too_large(files: list[str], most: int = MOST) -> dict[str, int]:
    """The folders with more files, and their numbers of files."""
    counts = collections.Counter(str(pathlib.PurePosixPath(file).parent) for file in files)
    return {folder: count for folder, count in sorted(counts.items()) if count > most}


def main() -> int:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    # git lists a deleted file until the commit.
    found = too_large([file for file in listed if file and (ROOT / file).exists()])
    for folder, count in found.items():
        print(f"{folder}: has {count} files of its own, expected at most {MOST}. Move related files into folders.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
