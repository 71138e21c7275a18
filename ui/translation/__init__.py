"""The languages of the pages: choosing one for a request, and the message catalogues in `locale`."""
