"""What a Navigator is made of: the chances of a map, the trail behind it, and telling places apart."""
