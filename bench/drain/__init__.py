"""Load and faults on one machine: a drain of due sources while workers die, sites hang and messages come twice."""
