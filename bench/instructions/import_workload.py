"""``python -m bench.instructions.import_workload``: the imports of an operator, with marks."""

import json
import os

if __name__ == "__main__":
    os.getppid()
    import steersman

    os.getppid()
    from opdemo import appservice

    steersman.Manager(controllers=[appservice.controller])
    os.getppid()
    print(json.dumps([("import steersman", 1), ("import an operator", 1), ("", 1)]))
