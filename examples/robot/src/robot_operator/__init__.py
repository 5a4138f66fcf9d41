"""robot-operator: robots, by the pieces of which every controller is made."""
