"""What objects look like, and what follows from it.

Takes:     bodies of requests; Kubernetes' OpenAPI documents; schemas that authors of kinds write
Gives:     objects as the real server would keep them: decoded, pruned, defaulted; and what is
           wrong with those that it would refuse, in its words
Promises:  - what breaks a rule is told in the server's words
           - a default is never shared between objects
           - what stays as wrong as it was does not hinder an update
Never:     stores anything, asks who wrote an object, or knows more of a kind than its schema says

A schema is made of ``node``s. Those of built-in kinds come from ``documents``, which adds what
``go_declarations`` knows; those of custom kinds from ``structural``, and ``keywords`` judges what
their authors write. ``decoding`` reads a body (``go_json``, ``yaml_bodies``, ``protobuf``): what is
regular goes the quick way, ``canonical``, the rest through ``inspection``, which finds the words.
Custom resources then meet ``pruning``, ``embedding``, ``defaulting``, ``validating`` and
``uniqueness``. ``protobuf_encoder`` writes what ``protobuf`` reads.
"""

__all__: list[str] = []
