"""app-controller: a Deployment under a name of one's choice, corrected when it drifts."""
