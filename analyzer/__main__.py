"""``python -m analyzer``: the same as ``smgate``."""

from analyzer.cli import main

if __name__ == "__main__":
    main()
