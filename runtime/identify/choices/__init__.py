"""Choices that recordings left out decide: friction laws, samples near standstill."""
