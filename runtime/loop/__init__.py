"""The control loop around any arm: guard, gate, supervisor, stop, recording, replay."""
