"""Upgrades of projects: their frame is merged, and renamed names of steersman are replaced.

    project_upgrade ─▶ project_names ─▶ python_source, text_source ─▶ rename_map

Takes:     a project on disk, as an older steersman made it, and the files of ``scaffold/renames``
Gives:     the files to write, and what was done to each
Promises:  - an upgrade keeps what the author changed
           - a second upgrade changes nothing
           - a project of an older steersman has the names of this one after an upgrade
           - a file that is not valid python is rejected before anything is written
Never:     replaces a word only because it equals an old name: it must refer to a steersman name
"""

__all__: list[str] = []
