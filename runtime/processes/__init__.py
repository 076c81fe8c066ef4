"""What many processes that run one program need of each other."""
