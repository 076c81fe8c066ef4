"""
How worker processes are started: what the controller needs of a job (`job`), and one on this machine (`here`).

`door` and `progress` are what both sides share from the first moment on; they import nothing of the package.
"""

__all__: list[str] = []
