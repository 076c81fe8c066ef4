"""What outlives the process: programs and variables in directories, checkpoints, and TensorFlow's graphs both ways."""
