"""Settings of a manager: from arguments, the environment and a file, each checked.

    manager_settings ─▶ sources ─▶ address

Takes:     command-line arguments, environment variables, a YAML file
Gives:     ``ManagerSettings``, one frozen value
Promises:  - arguments override the environment and the environment overrides the file
           - an unknown key is rejected with a similar known key
Never:     reads anything after the operator has started
"""

__all__: list[str] = []
