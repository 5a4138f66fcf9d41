"""The errors that steersman raises.

SteersmanError
├── ApiError                     the API server answered, and the answer was no
│   ├── BadRequest
│   ├── Unauthorized             it does not know who is asking
│   ├── Forbidden                it knows, and they may not
│   ├── NotFound
│   ├── MethodNotAllowed
│   ├── AlreadyExists
│   ├── Conflict                 somebody else wrote first; read again
│   ├── Expired                  the resourceVersion is too old; list again
│   ├── Invalid                  the object breaks its schema or a rule; see ``causes``
│   ├── TooManyRequests
│   └── ServerFailed             a 5xx answer
│       ├── Unavailable
│       └── ServerTimeout
│           └── TooLargeResourceVersion   this server has not got so far yet
├── Unreachable                  no answer; ``may_have_happened`` says whether a write may stand
│   └── DeadlinePassed
├── BadAnswer                    an answer that no API server should give
│   └── EndlessList              a list whose pages do not come to an end
├── InvalidObject                an object that does not fit its Python class
├── ConfigError                  a kubeconfig or credential file that cannot be used
│   ├── CertificateRefused       the other side's certificate, or ours, was not accepted
│   └── CredentialPluginFailed
├── BadValue                     a value that Kubernetes would refuse
│   ├── BadName
│   └── NotAKind                 a class that does not say where its objects live
├── UnknownKind                  nobody has heard of this kind
├── CacheError                   a cache cannot answer
│   ├── NotFollowed              nobody follows this kind
│   ├── NotSynced                not everything has been heard yet
│   ├── NotInScope               the cache holds other objects of the kind
│   └── CacheSyncTimeout         caches were not filled in time, and which kinds they are of
├── UnknownIndex                 a cache has no index of this name
├── CacheMutated                 somebody changed objects that belong to a cache
├── QueueClosed                  a work queue gives out no more keys
├── NotHeld                      a key that nobody holds was said to be done
├── BadController                a controller that cannot work as it is declared
├── Undeclared                   a controller used a kind that it never declared
│   ├── UndeclaredRead
│   └── UndeclaredWrite
├── NotOurs                      refused to take over an object that someone else controls
├── BadOwner                     one object cannot be the owner of the other
├── BadOutcome                   a reconcile function returned something else than an outcome
├── NotAwaited                   a reconcile function called a method of ctx without await
├── ExitRaised                   a function of the author's raised SystemExit
├── ReconcileTimedOut            a reconcile function took longer than it may
├── ContextEnded                 a context was used after its reconcile had ended
├── Permanent                    raised by authors: trying again will not help until someone acts
├── NotLeading                   a write was held back because another replica may lead
├── BadManager                   a manager that cannot work as it is made
├── BadSettings                  settings of a manager that cannot be used
├── NoLifespanValue              the manager's lifespan gives something else, or nothing
├── ManagerFailed                a manager could not start, or what it runs has failed
├── NoConversion                 no way from one version of a kind to another
├── NotSettled                   a condition that was waited for did not come about in time
├── CannotBeACrd                 a class that no CustomResourceDefinition can describe
├── BadDefinition                what should be a CustomResourceDefinition and is none
├── NoSample                     a schema for which no object can be made up
├── BadTarget                    ``module:attribute`` or a file that leads to no operator
└── ProjectError                 a project that cannot be made, found or changed as asked
    ├── BadProjectSetting        a setting in pyproject.toml that cannot be used, by its key
    ├── EditedByHand             generated files that somebody has changed since
    └── OutOfDate                generated files that no longer say what the types say

A class statement or a call that is wrong in itself is a ``TypeError`` or ``ValueError``, as it is
everywhere in Python.

A message says who wanted what, why not, and what to do now.

Takes:     what the one who raises an error knows of it, as keywords
Gives:     exceptions with that as attributes, and one sentence for a person
Promises:  - an error can be copied and sent to another process
Never:     contains a secret: values that came from credentials or from the data of a Secret
"""

from steersman.errors.answers import (
    AlreadyExists,
    ApiError,
    BadAnswer,
    BadRequest,
    Cause,
    Conflict,
    DeadlinePassed,
    EndlessList,
    Expired,
    Forbidden,
    Invalid,
    InvalidObject,
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
from steersman.errors.exits import AUTHOR_ERRORS, ExitRaised, failure_of
from steersman.errors.making import (
    BadDefinition,
    BadProjectSetting,
    BadTarget,
    CannotBeACrd,
    EditedByHand,
    NoSample,
    OutOfDate,
    ProjectError,
)
from steersman.errors.operating import (
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
    NotFollowed,
    NotHeld,
    NotInScope,
    NotLeading,
    NotOurs,
    NotSettled,
    NotSynced,
    Permanent,
    QueueClosed,
    ReconcileTimedOut,
    Undeclared,
    UndeclaredRead,
    UndeclaredWrite,
    UnknownIndex,
)
from steersman.errors.root import (
    SteersmanError,
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
    "BadAnswer",
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
    "Forbidden",
    "Invalid",
    "InvalidObject",
    "ManagerFailed",
    "MethodNotAllowed",
    "NoConversion",
    "NoLifespanValue",
    "NoSample",
    "NotAKind",
    "NotAwaited",
    "NotFollowed",
    "NotFound",
    "NotHeld",
    "NotInScope",
    "NotLeading",
    "NotOurs",
    "NotSettled",
    "NotSynced",
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
    "failure_of",
]
