"""English words without a subject: left out of keyword queries, never out of the index.

The list of Lucene's EnglishAnalyzer, with those auxiliaries, pronouns, prepositions and question words of the Glasgow
IR list that do not indicate a question's subject.
"""

from __future__ import annotations

_LIST = """
    a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don down during each either else
    few for from further had hadn has hasn have haven having he her here hers herself him himself his how
    however i if in into is isn it its itself just let ll m may me might more most much must my myself neither
    no nor not now of off often on once only onto or other ought our ours ourselves out over own per please re s
    same shall she should shouldn so some such t than that the their theirs them themselves then there therefore
    these they this those though through thus to too under until up upon us ve very was wasn we were weren what
    when where whether which while who whom whose why will with within without won would wouldn yet you your
    yours yourself yourselves
"""

STOP_WORDS = frozenset(_LIST.split())
