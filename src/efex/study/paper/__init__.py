"""The studies of the paper, one file each. Seeds from 2,000 on were never looked at while the agents were made."""

SEEDS = 2_000
"""The first seed of every study."""
