"""What commands do with programs: read them, feed them, report on them."""
