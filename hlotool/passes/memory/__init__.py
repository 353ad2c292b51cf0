"""Where values lie in memory and when: layouts, copies, schedules."""
