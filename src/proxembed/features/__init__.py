"""Feature stages as plain functions: scalings, tables, kernel coordinates, leaves, layouts, and prototypes."""
