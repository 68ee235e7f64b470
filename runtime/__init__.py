"""What a control PC needs: load, evaluate, simulate and control with generated dynamics."""
