"""podwatch: what happens to Pods, through a work queue."""
