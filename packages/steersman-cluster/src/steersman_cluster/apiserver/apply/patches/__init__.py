"""The three kinds of patches, applied to plain JSON as kube-apiserver applies them.

Takes:     an object, and a patch as JSON; for a strategic merge patch also the kind's schema
Gives:     the patched object, or a ``StatusError`` with the code and message of kube-apiserver
Promises:  - applying a patch mutates neither the object nor the patch
           - parts that a patch does not change are shared, not copied
           - a patch is applied completely or not at all
           - repeated copies in a patch cannot grow without limit
Never:     decodes bytes, validates the patched object, or decides which kinds accept which patches
"""

from steersman_cluster.apiserver.apply.patches.json_patch import (
    apply_json_patch,
    json_patch_mistakes,
)
from steersman_cluster.apiserver.apply.patches.merge_patch import apply_merge_patch
from steersman_cluster.apiserver.apply.patches.strategic_merge_patch import (
    apply_strategic_merge_patch,
)

__all__ = [
    "apply_json_patch",
    "apply_merge_patch",
    "apply_strategic_merge_patch",
    "json_patch_mistakes",
]
