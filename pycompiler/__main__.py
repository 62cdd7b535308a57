"""`python -m pycompiler`: the versions, the devices, the processor and the settings, for a bug report."""

import argparse

from pycompiler.diagnostics.environment import print_environment_info


def main() -> None:
    argparse.ArgumentParser(prog="python -m pycompiler", description=__doc__).parse_args()
    print_environment_info()


if __name__ == "__main__":
    main()
