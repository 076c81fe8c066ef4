"""What the processes that run one program have of each other: messages, what they were given, who ran when."""
