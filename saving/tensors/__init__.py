"""Arrays in files that other libraries read and write."""
