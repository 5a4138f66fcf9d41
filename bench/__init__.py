"""What steersman costs, with the same work done by other clients beside it."""
