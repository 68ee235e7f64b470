"""The step in link frames, as short trees are emitted: its Jacobian, adjoint, energies and rollout."""
