"""Passes that read what others wrote: Shardy, GSPMD, manual computations, calls."""
