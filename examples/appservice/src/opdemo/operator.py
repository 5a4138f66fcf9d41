"""The operator: every controller that it runs."""

import steersman as sm

from opdemo import appservice, webservice

manager = sm.Manager(
    controllers=[
        appservice.controller,
        webservice.controller,
    ],
)
