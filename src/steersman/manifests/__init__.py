"""Everything that installs an operator, made from its types: the only source there is.

Takes:     an ``Installation``: controllers, and a few words about where they will run
Gives:     documents (objects as they are on the wire) and trees (paths, each with a text)
Promises:  - the same operator gives the same bytes every time
           - a manifest grants an operator what it declares and nothing more
Never:     talks to a server, or writes over what somebody has edited
"""

from steersman.manifests.documents import Document, as_document, yaml_of
from steersman.manifests.installation import Installation

__all__ = ["Document", "Installation", "as_document", "yaml_of"]
