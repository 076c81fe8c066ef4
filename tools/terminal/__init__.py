"""What commands share: arguments, output, faults."""
