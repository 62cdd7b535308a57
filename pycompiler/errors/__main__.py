"""`python -m pycompiler.errors [class]`: the page about a class of errors, or the list of classes."""

import sys

from pycompiler import errors


def main(names: list[str]) -> int:
    """Print the pages of these classes; without any, a line for each class."""
    if not names:
        for name in errors.__all__:
            found = getattr(errors, name)
            if isinstance(found, type):
                print(f"{name}: {(found.__doc__ or '').splitlines()[0]}")
        return 0
    try:
        print("\n".join(map(errors.page, names)), end="")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
