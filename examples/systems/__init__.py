"""Real systems as Gymnasium environments, each with its own truth to compare a map with."""
