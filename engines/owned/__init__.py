"""Meshes whose devices somebody else has: the workers of a controller, or other processes of the job."""
