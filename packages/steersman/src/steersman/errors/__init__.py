"""The errors that steersman raises.

SteersmanError
├── ApiError                     the API server responded with an error
│   ├── BadRequest
│   ├── Unauthorized             the server cannot identify the user
│   ├── Forbidden                the user lacks the permission
│   ├── NotFound
│   ├── MethodNotAllowed
│   ├── AlreadyExists
│   ├── Conflict                 another client wrote first; read again
│   ├── Expired                  the resourceVersion is too old; list again
│   ├── Invalid                  the object breaks its schema or a rule; see ``causes``
│   ├── TooManyRequests
│   └── ServerFailed             a 5xx response
│       ├── Unavailable
│       └── ServerTimeout
│           └── TooLargeResourceVersion   this server has not reached the version yet
├── Unreachable                  no response; ``may_have_happened``: a write may have succeeded
│   └── DeadlinePassed
├── InvalidResponse              a response that no API server should send
│   └── EndlessList              a list whose pages do not end
├── InvalidObject                an object that does not fit its Python class
├── ConfigError                  a kubeconfig or credential file that cannot be used
│   ├── CertificateRefused       the certificate of the server or the client was rejected
│   └── CredentialPluginFailed
├── BadValue                     a value that Kubernetes would reject
│   ├── BadName
│   └── NotAKind                 a class without a ``resource_type``
├── UnknownKind                  a kind that is missing from the scheme or the server
├── CacheError                   a cache cannot serve a read
│   ├── NotWatched               no informer watches this kind
│   ├── NotSynced                the first list is not complete yet
│   ├── NotInScope               the cache holds other objects of the kind
│   └── CacheSyncTimeout         caches did not sync in time; the error names their kinds
├── UnknownIndex                 a cache has no index of this name
├── CacheMutated                 the operator changed objects that belong to a cache
├── QueueClosed                  a work queue delivers no more keys
├── NotProcessing                ``done`` for a key that no worker holds
├── BadController                a controller whose declaration is invalid
├── Undeclared                   a controller used a kind that it did not declare
│   ├── UndeclaredRead
│   └── UndeclaredWrite
├── NotOurs                      an object cannot be taken over from another owner
├── BadOwner                     one object cannot be the owner of another
├── BadOutcome                   a reconcile function returned no outcome
├── NotAwaited                   a reconcile function called a method of ctx without await
├── ExitRaised                   a function of the operator author raised SystemExit
├── ReconcileTimedOut            a reconcile function exceeded its timeout
├── ContextEnded                 a context was used after its reconcile had ended
├── Permanent                    raised by operators: only a change of the object can help
├── NotLeading                   a write was blocked because another replica may lead
├── BadManager                   a manager whose configuration is invalid
├── BadSettings                  settings of a manager that cannot be used
├── NoLifespanValue              the manager's lifespan provides another value, or none
├── ManagerFailed                a manager could not start, or a part of it has failed
├── NoConversion                 no conversion from one version of a kind to another
├── WaitTimeout                  a condition was not met in time
├── CannotBeACrd                 a class that no CustomResourceDefinition can describe
├── BadDefinition                not a CustomResourceDefinition
├── NoSample                     a schema for which no sample object can be generated
├── BadTarget                    ``module:attribute`` or a file without an operator
└── ProjectError                 a project that cannot be created, found or changed
    ├── BadProjectSetting        an invalid setting in pyproject.toml
    ├── EditedByHand             generated files that were edited later
    └── OutOfDate                generated files that do not match the types

An invalid class statement or call is a ``TypeError`` or ``ValueError``, as everywhere in Python.

A message states what failed, why, and what to do. ``steersman explain NAME`` prints the cause and
the fix of an error in more words; ``explanations()`` returns them.

Takes:     the facts, as keywords
Gives:     exceptions with the facts as attributes, and a one-sentence message
Promises:  - an error can be copied and sent to another process
Never:     contains a secret: values from credentials or from the data of a Secret
"""

from steersman.errors.exits import AUTHOR_ERRORS, ExitRaised, failure_of
from steersman.errors.explanation import Explanation, explanations
from steersman.errors.project import (
    BadDefinition,
    BadProjectSetting,
    BadTarget,
    CannotBeACrd,
    EditedByHand,
    NoSample,
    OutOfDate,
    ProjectError,
)
from steersman.errors.requests import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Cause,
    Conflict,
    DeadlinePassed,
    EndlessList,
    Expired,
    Forbidden,
    Invalid,
    InvalidObject,
    InvalidResponse,
    MethodNotAllowed,
    NotFound,
    ServerFailed,
    ServerTimeout,
    TooLargeResourceVersion,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from steersman.errors.root import (
    SteersmanError,
)
from steersman.errors.runtime import (
    BadController,
    BadManager,
    BadOutcome,
    BadOwner,
    BadSettings,
    CacheError,
    CacheMutated,
    CacheSyncTimeout,
    ContextEnded,
    ManagerFailed,
    NoLifespanValue,
    NotAwaited,
    NotInScope,
    NotLeading,
    NotOurs,
    NotProcessing,
    NotSynced,
    NotWatched,
    Permanent,
    QueueClosed,
    ReconcileTimedOut,
    Undeclared,
    UndeclaredRead,
    UndeclaredWrite,
    UnknownIndex,
    WaitTimeout,
)
from steersman.errors.values import (
    BadName,
    BadValue,
    CertificateRefused,
    ConfigError,
    CredentialPluginFailed,
    NoConversion,
    NotAKind,
    UnknownKind,
)

__all__ = [
    "AUTHOR_ERRORS",
    "AlreadyExists",
    "ApiError",
    "BadController",
    "BadDefinition",
    "BadManager",
    "BadName",
    "BadOutcome",
    "BadOwner",
    "BadProjectSetting",
    "BadRequest",
    "BadSettings",
    "BadTarget",
    "BadValue",
    "CacheError",
    "CacheMutated",
    "CacheSyncTimeout",
    "CannotBeACrd",
    "Cause",
    "CertificateRefused",
    "ConfigError",
    "Conflict",
    "ContextEnded",
    "CredentialPluginFailed",
    "DeadlinePassed",
    "EditedByHand",
    "EndlessList",
    "ExitRaised",
    "Expired",
    "Explanation",
    "Forbidden",
    "Invalid",
    "InvalidObject",
    "InvalidResponse",
    "ManagerFailed",
    "MethodNotAllowed",
    "NoConversion",
    "NoLifespanValue",
    "NoSample",
    "NotAKind",
    "NotAwaited",
    "NotFound",
    "NotInScope",
    "NotLeading",
    "NotOurs",
    "NotProcessing",
    "NotSynced",
    "NotWatched",
    "OutOfDate",
    "Permanent",
    "ProjectError",
    "QueueClosed",
    "ReconcileTimedOut",
    "ServerFailed",
    "ServerTimeout",
    "SteersmanError",
    "TooLargeResourceVersion",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
    "Undeclared",
    "UndeclaredRead",
    "UndeclaredWrite",
    "UnknownIndex",
    "UnknownKind",
    "Unreachable",
    "WaitTimeout",
    "explanations",
    "failure_of",
]
