"""Constants, statuses and names that the C and its readers share."""
