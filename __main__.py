"""`python -m shardwright` is the command `shardwright`."""

import sys

from shardwright.tools.main import main

if __name__ == "__main__":
    sys.exit(main())
