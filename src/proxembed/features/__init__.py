"""Feature stages as plain functions: scalings, kernel coordinates, and the choice of prototypes."""
