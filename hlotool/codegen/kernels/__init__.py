"""Kernels: functions that compute one instruction of a schedule, whole or a range of it."""
