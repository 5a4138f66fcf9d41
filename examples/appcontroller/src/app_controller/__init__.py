"""app-controller: keeps a Deployment with a given name, and corrects drift."""
