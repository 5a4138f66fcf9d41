"""podwatch: prints the changes of Pods, with an informer and a work queue."""
