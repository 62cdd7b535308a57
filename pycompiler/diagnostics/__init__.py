"""Information for a program about itself: checks at run time, drawings, pictures, the environment. Imports `cache`."""
