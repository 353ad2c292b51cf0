"""Layouts, copies, buffers and schedules."""
