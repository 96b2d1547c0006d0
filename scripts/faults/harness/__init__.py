"""What scripts/faults/run is made of."""
