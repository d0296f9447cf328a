"""Definitions of the code tools: a name, a description for models, and a face.

A face is the interface of a tool: its arguments and the form of its results.
"""
