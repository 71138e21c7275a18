"""The reader: a small model that scores whether a passage answers a question, where, and which passage supports a
sentence.
"""
