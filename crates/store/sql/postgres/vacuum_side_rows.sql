VACUUM shelf
