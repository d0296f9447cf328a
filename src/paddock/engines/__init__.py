"""The engines, and the code that several of them share. They are independent of one another."""
