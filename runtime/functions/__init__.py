"""Generated functions as Python callables: arguments, parameters, rollouts, derivatives."""
