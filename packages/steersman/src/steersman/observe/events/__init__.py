"""The observations of each package: typed values with a level, a text and metrics.

Takes:     the facts of one event, as fields
Gives:     its log line and the samples of its metrics
Promises:  - every observation has a log line
           - every observation is counted in a metric or left out on purpose
           - a log line carries the object it is about
Never:     imports prometheus_client, or the package that reports the event
"""

__all__: list[str] = []  # steersman.observe exports the public names
