"""Worlds of the reconciler: GitHub, EC2 and launchers in memory, virtual time, and the functions' own composition."""
