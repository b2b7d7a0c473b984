"""``python -m pellucid``: the same as the program ``pellucid``."""

from pellucid.cli.main import main

if __name__ == "__main__":
    main()
