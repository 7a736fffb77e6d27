"""The run of a system as kernel functions over flat arrays: what a library without Python is made of."""
