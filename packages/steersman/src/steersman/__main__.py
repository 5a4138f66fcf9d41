"""``python -m steersman``: the command line."""

from steersman.cli import main

if __name__ == "__main__":
    main()
