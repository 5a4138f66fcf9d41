"""Settings of a manager: from arguments, the environment and a file, each checked.

    manager_settings ─▶ sources ─▶ address

Takes:     command-line arguments, environment variables, a TOML file
Gives:     ``ManagerSettings``, one frozen value
Promises:  - arguments go before the environment and that before the file
           - an unknown key is refused with the one that was meant
Never:     reads anything after the operator has started
"""

__all__: list[str] = []
