"""Passes from relayouts to collectives on each device."""
