"""The studies of the paper, one file each. Seeds from 2,000 on are theirs alone: agents are made on others."""

SEEDS = 2_000
"""The first seed of every study."""
