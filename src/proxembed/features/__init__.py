"""Feature stages as plain functions: scalings, relations to prototypes, and the choice of prototypes."""
