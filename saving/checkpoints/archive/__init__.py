"""The archive of a checkpoint: a zip file, and a zarr 3 group, of chunks whose places follow from the manifest."""
