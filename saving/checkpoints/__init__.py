"""What variables hold, stored as shards by the devices that hold them, read in any layout."""
