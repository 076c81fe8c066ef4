"""What devices send each other: who sends what to whom, what shares a message, windows of what others hold."""
