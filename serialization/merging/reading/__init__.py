"""Files of chunks, opened and looked at."""
