"""The derived indexes: rebuilt from the store's rows at any time, never the truth themselves."""
