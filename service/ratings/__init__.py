"""Rating studies: answers and passages, judged blindly by people; their store, their order and what they say."""
