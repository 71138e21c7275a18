"""Rating studies: answers of several systems, judged blindly by people; their store, their order and what they say."""
