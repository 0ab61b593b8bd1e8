"""Linear Road as a network of Aurora's boxes."""
