"""Attacks on Larder, tried for real."""
