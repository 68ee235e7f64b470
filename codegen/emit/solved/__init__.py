"""Steps with contacts, limits, loops or a floating base, and the plans on them."""
