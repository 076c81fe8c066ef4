"""`python -m saved_models [NAME...]` in `tests/support`: the verdict on each model, one line of JSON for each."""

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ["KERAS_BACKEND"] = "tensorflow"  # Keras asks once, so this is a process of its own

from saved_models.making import made_by_name, names, verdict

for name in sys.argv[1:] or names():
    with TemporaryDirectory() as folder:
        try:
            found = verdict(made_by_name(name), Path(folder) / name)
        except Exception as error:  # one broken model shall not hide the others
            found = f"broken: {type(error).__name__}: {error}"
    print(json.dumps({name: found}), flush=True)
