"""Files in the making: functions with their inputs, the headers of a model."""
