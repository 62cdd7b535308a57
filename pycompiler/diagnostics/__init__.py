"""What a program is told of itself: checks while it runs, drawings, pictures, the environment. Above `cache`."""
