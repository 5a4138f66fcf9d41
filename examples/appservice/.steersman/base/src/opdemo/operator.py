"""The operator: every controller that it runs."""

import steersman as sm

manager = sm.Manager(
    controllers=[],
)
