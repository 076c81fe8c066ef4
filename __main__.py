"""`python -m shardwright` is the command `shardwright`."""

import sys

from shardwright.tools.start import main

if __name__ == "__main__":
    sys.exit(main())
