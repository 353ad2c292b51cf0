"""Instructions that become one kernel."""
