"""The clone-structured HMM and how it is learned."""
