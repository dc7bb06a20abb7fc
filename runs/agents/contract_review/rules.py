"""The rules for clauses: what must stand in a sentence, what speaks for it, what against it.

A rule scores every sentence of the contract; the best ones above its threshold are quoted. The words come
from the usual drafting of commercial contracts in English; the weights say how telling each is. Where two
sentences are equally good the earlier one is taken.
"""
# ruff: noqa: E501 - a pattern broken over lines is harder to check than a long one

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signal:
    """One pattern and what it adds to (or takes from) the score of a sentence that holds it."""

    pattern: re.Pattern[str]
    weight: float


@dataclass(frozen=True, slots=True)
class Rule:
    """How one field is found. `must` has to match; `heading` adds when the heading above matches."""

    field: str
    must: re.Pattern[str]
    signals: tuple[Signal, ...]
    threshold: float
    limit: int = 1
    heading: re.Pattern[str] | None = None
    margin: float = 0.0
    """How far below the best a further quote may score."""
    core: re.Pattern[str] | None = None
    """Where given, this has to match too: it keeps weak signals from adding up to a wrong quote."""


def _signals(*pairs: tuple[float, str]) -> tuple[Signal, ...]:
    return tuple(Signal(re.compile(pattern, re.IGNORECASE), weight) for weight, pattern in pairs)


def _any(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_THIS = r"(?:this|the) (?:\w+ ){0,3}?(?:agreement|contract|lease|license|licence|mnda|nda|dpa|sow)"
_PERIODS = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|eighteen|twenty[\w-]*|thirty[\w-]*|forty[\w-]*|fifty|sixty|ninety|\[[^\]]*\])[\w() -]{0,24}(?:year|month|day|week|anniversar)"
_AWAY = (
    (-4.0, r"\bconfidential|\bsurviv|\binsurance|\bwarranty period|\bpolic(?:y|ies)\b|\bescrow"),
    (-3.0, r"\b(?:sublease|sublicen[cs]e|purchase order|statement of work|work order|second level|option|patent|employee|tenant)s?\b"),
    (-3.0, r"^(?:during|throughout|upon|following|after|in the event|if) |^for (?:the|a) (?:term|duration|period) "),
    (-2.5, r"\b(?:obligations? (?:of|under|set)|provisions? of) [^.]{0,60}(?:shall|will) (?:continue|remain)|\b(?:shall|will) (?:not )?(?:affect|relieve)|\bupon (?:the )?(?:expiration|termination)"),
    (-2.0, r"\bmay (?:be )?terminate|\bright to terminate|\bterminate this agreement (?:immediately|if|by|upon|for)"),
    (-1.0, r"\bpay(?:s|ments?|able)?\b|\binvoice"),
)  # fmt: skip

TERM = Rule(
    "expiration",
    _any(r"\bterm\b|\bexpir|\bforce\b|\beffect(?:ive)?\b|\bcontinue|\bterminat|\bremain|\bperpetu|\bvalid"),
    _signals(
        (4.0, rf"\b(?:the )?(?:initial |primary |original )?term of {_THIS} (?:\([^)]*\),? ?)?(?:,[^,]{{0,120}},)? ?(?:shall|will|is|commence|begin|start|run|expire|continue|be\b)"),
        (4.0, rf"\b{_THIS},? (?:\([^)]*\) )?(?:unless [^,]{{0,120}},? )?(?:shall|will|is|shall be|may)? ?(?:hereby )?(?:commences?|begins?|becomes? effective|be effective|effective|takes? effect|come into|enter into|remains?|continues?|expires?|be (?:valid|in)|has|have|is for|be for)\b"),
        (2.0, r"\b(?:until|through|for|expires?|ending|end|terminates?) (?:on |and including |at |upon |as of )?[^.]{0,60}(?:(?:19|20)\d\d|anniversary|\[[^\]]*\])"),
        (2.0, rf"\b(?:for|period of|term of|until|term is|shall be|through) (?:an? |the |and including )?(?:initial |further |fixed |minimum )?(?:term |period )?(?:of )?(?:approximately )?{_PERIODS}"),
        (2.0, rf"\buntil {_PERIODS}|\b{_PERIODS}s? (?:following|after|from|of) the"),
        (2.5, r"\((?:the |collectively,? the |such period,? the )?\"(?:initial |primary )?term\"|\bthe \"(?:initial )?term\"\)?"),
        (3.0, r"^\"(?:initial )?term\" (?:shall |will )?(?:mean|is|has)"),
        (2.0, r"\bperpetu|\bindefinite|\bfor so long as|\buntil (?:terminated|cancell?ed|such time|the project|all|completion)|\bunless (?:sooner|earlier|terminated|otherwise)"),
        (3.0, r"\bterm of the licen[cs]e\b[^.]{0,60}\b(?:is|shall|will)\b"),
        (2.5, r"\bshall expire\b|\bwill expire\b|\bexpires on\b|\binitial term\b"),
        (4.0, rf"\b{_THIS} (?:shall|will) (?:automatically )?(?:terminate|expire|end) (?:automatically )?(?:on|upon) the (?:earlie|later|last|date|day)"),
        (2.5, r"\b(?:earlier|later) (?:to occur )?of\b|\banniversary of\b"),
        (1.0, r"\bcommenc|\beffective date\b"),
        (-3.0, r"\bterminat\w* (?:is|shall be|will be) effective|effective date of (?:such |the |any )?(?:termination|expiration)|^notice of"),
        (-6.0, r"\bany terms?\b|\binvalid|\bunenforceable|\bfiscal year|\bwithin \w+ (?:\(\d+\) )?days after the end|\bcalendar quarter"),
        (-2.5, r"\bdefined terms?\b|\bterms and conditions\b|\bas used (?:in|herein)|\bmeaning (?:set|given)|\bin terms of"),
        (3.0, r"\bterm (?:hereof|thereof|shall|will) (?:shall |will )?(?:be|commence|begin|continue|run|expire)\b"),
        (-1.5, r"\b(?:automatically )?renew\w* (?:automatically )?for|\brenewal term\b"),
        (-3.0, r"^thereafter|^(?:the|each|any) (?:renewal|extension)|^(?:unless|if) [^,]{0,80}renew"),
        *_AWAY,
    ),
    threshold=5.0,
    heading=_any(r"\bterm\b|\bduration\b|\bexpir|\beffectiveness\b"),
    core=_any(
        rf"\bterm (?:of|for) (?:the licen[cs]e|{_THIS})|\bterm (?:hereof|thereof|is|shall|will|commenc|begin)|\binitial term\b|\"term\"|\b(?:this|the) (?:\w+ )?(?:agreement|contract|lease|license)\b[^.]{{0,160}}\b(?:commence|effective|effect|force|remain|continue|expire|valid|term|terminate)|\bdpa will|\bmnda\b"
    ),
)  # fmt: skip

RENEWAL = Rule(
    "renewal",
    _any(r"\brenew|\bextend|\bextension|\bsuccessive|\bstay in force|\badditional (?:term|period)|\bcontinue (?:automatically|thereafter|from (?:year|month))|\bthereafter\b"),
    _signals(
        (3.5, r"\b(?:shall|will|may|is|be|must) (?:be )?(?:automatically )?(?:renew|extend)(?:ed|s)?\b|\bautomatic(?:ally)? (?:renew|extend|extension|continue|stay)|\bmay\b[^.]{0,30}\brenew this\b"),
        (3.0, r"\bsuccessive\b[^.]{0,60}(?:term|period|year|month|day)|\b(?:year|month)[- ]to[- ](?:year|month)"),
        (2.5, r"\brenewal (?:term|period)|\bextension (?:term|period)|\"renewal"),
        (2.0, rf"\b(?:additional|further|subsequent|renewal|successive|consecutive|one)\b[^.]{{0,50}}(?:{_PERIODS}|terms?|periods?)"),
        (2.0, rf"\b(?:the )?(?:initial |current )?term\b|\b{_THIS}\b"),
        (3.0, r"\b(?:option|right|option or right|entitled) to (?:\w+ )?(?:renew|extend)"),
        (1.5, r"\bunless\b|\bprovided\b"),
        (-3.0, r"\bmutual(?:ly)? (?:written )?(?:agree|consent|extended)|\bextended by written agreement"),
        (-4.0, r"\bnon-?renewal (?:of|or)|\binsurance|\bcoverage|\bpatents?\b|\bregistrations?\b|\brenewals,|\bletters? of credit|\breissue|\bfilings?\b|\bdomain|\bpermits?\b"),
        (-3.0, r"\bextend(?:s|ed)? (?:to|beyond|credit|the (?:time|deadline|due date|delivery|period of time|cure))|\bextension of (?:time|credit)|\bforce majeure|\bfull extent|\bextent\b(?!s)"),
        (-2.5, r"^(?:upon|if|during|following|after) [^.]{0,40}(?:expiration|termination) (?:or \w+ )?of (?:this|the) agreement|\bmay not\b|\bnot (?:be )?(?:renew|extend)ed?\b(?! (?:the|this))"),
        (-4.0, r"^(?:[\d.]+ )?\"(?!renewal|extension)[^\"]{2,40}\" (?:means|shall mean|has)"),
        (-4.0, r"\bextended by (?:such|the|a|that) (?:number|period|time)|\bextended for (?:that|such|the|a) (?:same )?(?:period of time|period equal|number)|\bnumber of days|\bday[- ]for[- ]day|\bcalendar quarter"),
        (-3.0, r"\bconfidential|\bsurviv|\bpurchase orders?\b|\bstatement of work"),
    ),
    threshold=6.5,
    heading=_any(r"\bterm\b|\brenew|\bextension|\bduration"),
)  # fmt: skip

RENEWAL_NOTICE = Rule(
    "renewal_notice",
    _any(r"\bnotice|\bnotif|\bwriting\b"),
    _signals(
        (3.0, r"\bnon-?renewal\b|\bnot (?:to )?(?:wish (?:or intend )?to |intend to |to be )?(?:renew|extend)|\bintent(?:ion)? (?:not )?to (?:not )?(?:renew|terminate|extend)|\bno(?:t)? renew|\bdecision not to|\bopt(?:s|ing)? (?:out|not)|\belects? not to"),
        (3.0, r"\b(?:prior to|before|in advance of|preceding)\b[^.]{0,40}\b(?:expir\w*|end|termination|anniversary|commencement|renewal)\b[^.]{0,60}\b(?:term|period|year|anniversary|renewal|agreement|date)\b"),
        (2.5, rf"\b(?:at least|not (?:less|later) than|no (?:less|later) than|minimum of|upon|giving) (?:\w+ )?{_PERIODS}"),
        (2.0, r"\b(?:at least|not less than|no less than) \[[^\]]*\] (?:days |months )?(?:prior|before)"),
        (2.0, r"\b(?:initial|renewal|then[- ]current|current|extension) (?:term|period)"),
        (1.5, r"\brenew|\bsuccessive|\bextend"),
        (1.0, r"\bunless\b|\beither party\b"),
        (-3.0, r"\binsurance|\bcoverage|\bbreach|\bdefault|\binsolven|\bbankrupt|\bforce majeure|\bpurchase order|\bprice|\bfees?\b|\bforecast"),
        (-3.0, r"\bconvenience\b|\bfor any reason\b|\bat any time\b"),
    ),
    threshold=8.0,
    heading=_any(r"\bterm\b|\brenew|\bextension|\bduration|\btermination\b"),
)  # fmt: skip

GOVERNING_LAW = Rule(
    "governing_law",
    _any(r"\b(?:govern|constru|interpret|enforc|determin|subject to|resolv|made under)\w*\b[^.]{0,200}\blaws?\b|\blaws?\b (?:shall |will )?(?:govern|control|appl)|\blaws? of\b[^.]{0,120}\b(?:govern|appl(?:y|ies|icable)|control)|\bchoice of law|\bgoverning law\b|\bapplicable law (?:shall be|is) (?:that|the law)"),
    _signals(
        (4.0, r"\b(?:governed|construed|interpreted|enforced|determined)\b[^.]{0,220}\b(?:the |by )?(?:[\w,]+ ){0,5}laws?\b[^.]{0,40}\b(?:of|in) "),
        (3.0, rf"\b{_THIS}\b[^.]{{0,200}}\b(?:govern|constru|interpret)|\bthis (?:agreement|contract|lease|license)\b"),
        (3.0, r"\blaws? (?:of [\w ]{3,40} )?(?:shall |will )?(?:govern|control|appl(?:y|ies) to this)|\b(?:governed|construed)\b[^.]{0,80}\b[A-Z][a-z]+ law\b"),
        (2.0, r"\b(?:state|commonwealth|republic|province|kingdom|england|district|people's|laws) of\b|\[[^\]]*\]"),
        (2.0, r"\bconflicts? of laws?|\bchoice of law|\bconflict (?:or choice )?of"),
        (1.5, r"\ball (?:disputes|claims|matters|questions)"),
        (-4.0, r"\bcompl(?:y|iance) with|\bapplicable laws?\b[^.]{0,30}\b(?:means|shall mean)|^\"|\bpatent law|\btax law|\bbankruptcy law"),
        (-3.0, r"\bjury|\bexhibit|\bsubstantially in the form|\btrust agreement shall|\bindenture shall|\bto the (?:fullest|maximum) extent"),
    ),
    threshold=6.0,
    heading=_any(r"\bgoverning law|\bapplicable law|\blaw\b|\bjurisdiction|\bmiscellaneous"),
)  # fmt: skip

LIABILITY_CAP = Rule(
    "liability_cap",
    _any(r"\bliab(?:le|ility)\b"),
    _signals(
        (4.0, r"\b(?:aggregate |total |maximum |cumulative |entire )+liability\b|\bliability\b[^.]{0,200}\b(?:exceed|limited to|greater than|capped|in excess of)"),
        (3.0, r"\b(?:shall|will) (?:not|in no event) exceed|\bexceed(?:s|ing)?\b|\blimited to\b[^.]{0,80}(?:amount|fees|\$|paid)"),
        (2.0, r"\bin no event\b|\bunder no circumstances"),
        (2.0, r"\bconsequential\b[^.]{0,120}\bdamages|\bindirect\b[^.]{0,80}\bdamages|\bpunitive"),
        (1.0, r"\bamounts? (?:paid|payable|received)|\bfees (?:paid|payable)|\$\s?\d"),
        (-3.0, r"\binsurance|\bpolic(?:y|ies)\b|\bworkers|\bjoint and several|\btax"),
    ),
    threshold=5.0,
    limit=2,
    margin=2.0,
    heading=_any(r"\bliabilit|\bdamages"),
)  # fmt: skip

PAYMENT = Rule(
    "payment_terms",
    _any(r"\b(?:pay|paid|payable|payment|invoice[sd]?|royalt(?:y|ies)|fees?)\b"),
    _signals(
        (4.0, rf"\b(?:pay|paid|payable|due)\b[^.]{{0,160}}\bwithin {_PERIODS}|\bwithin {_PERIODS}[^.]{{0,120}}\b(?:pay|paid|payment)\b"),
        (-2.5, r"\b(?:submit|deliver|provide|send|issue|furnish)(?:ted|ed|s)?\b[^.]{0,120}\binvoice|\bgood[- ]faith\b|\bdispute"),
        (2.0, rf"\bnet {_PERIODS}|\b(?:receipt|date) of (?:the |an? |each |such )?(?:\w+ )?invoice"),
        (2.0, r"\b(?:shall|will|agrees? to|must) pay\b"),
        (1.5, r"\binvoices?\b|\bmonthly|\bquarterly|\bannual(?:ly)? (?:fee|royalt)|\binstal"),
        (1.0, r"\$\s?\d|\bUSD\b|\binterest\b"),
        (-3.0, r"\bindemnif|\binsurance|\btax(?:es)?\b|\bdamages|\btermination|\bgoverned"),
    ),
    threshold=5.0,
    heading=_any(r"\bpay|\bfee|\binvoic|\bcompensation|\bprice|\broyalt"),
)  # fmt: skip

TERMINATION = Rule(
    "termination",
    _any(r"\bterminat"),
    _signals(
        (4.0, rf"\b(?:may|right to|entitled to|option to|can) (?:\w+ ){{0,3}}?(?:terminate|be terminated|cancel)\b[^.]{{0,60}}|\b{_THIS} may be terminated"),
        (2.5, r"\b(?:convenience|without cause|any reason|no reason|at any time)\b"),
        (2.0, rf"\bupon (?:\w+ ){{0,4}}{_PERIODS}s?'?[^.]{{0,40}}notice|\b{_PERIODS}s?'? (?:prior )?(?:written )?notice"),
        (2.0, r"\bmaterial(?:ly)? breach|\bdefault|\binsolven|\bbankrupt|\bcure"),
        (1.0, rf"\b{_THIS}\b"),
        (-3.0, r"^(?:upon|in the event of|following) (?:any )?(?:termination|expiration)|\bsurviv|\bpurchase order|\bemploy"),
    ),
    threshold=6.0,
    limit=2,
    margin=1.5,
    heading=_any(r"\bterminat"),
)  # fmt: skip

ASSIGNMENT = Rule(
    "assignment",
    _any(r"\bassign"),
    _signals(
        (4.0, rf"\b(?:may|shall|will|can)(?:not| not)?\b[^.]{{0,80}}\bassign\b|\b{_THIS}[^.]{{0,80}}\b(?:may|shall)(?:not| not)? be (?:assigned|transferred)|\bneither party\b[^.]{{0,60}}\bassign|\bno party\b[^.]{{0,60}}\bassign"),
        (3.0, r"\bprior (?:written )?(?:consent|approval)|\bwithout (?:the )?(?:\w+ ){0,5}consent"),
        (2.0, rf"\b{_THIS}\b|\brights (?:and|or) obligations"),
        (1.0, r"\bsuccessors?\b|\bdelegate|\btransfer|\bnull and void|\bvoid\b|\bmerger|\baffiliate"),
        (-3.0, r"\binvention|\bwork product|\bpatents?\b|\btask|\bpersonnel|\bemployees?\b|\bhereby assigns|\breceivables?\b"),
    ),
    threshold=6.0,
    heading=_any(r"\bassign|\bsuccessors|\btransfer"),
)  # fmt: skip

CONFIDENTIALITY = Rule(
    "confidentiality",
    _any(r"\bconfiden|\bnon-?disclos|\bproprietary information"),
    _signals(
        (4.0, r"\b(?:shall|will|agrees?(?: to)?|must|may)(?: not)?\b[^.]{0,140}\b(?:disclos|keep|hold|maintain|protect|use)\w*\b[^.]{0,160}\bconfiden|\bconfidential information\b[^.]{0,160}\b(?:shall|will|agrees?|must)\b[^.]{0,80}\b(?:not|disclos|kept|held|maintain)"),
        (2.0, r"\bthird part(?:y|ies)|\bstrict(?:est)? confidence|\bin confidence"),
        (1.0, rf"\breceiving party|\b{_PERIODS}"),
        (-2.5, r"^\"|\bmeans\b|\bdoes not include|\bshall not include|\brequested|\bomitted|\bexhibit"),
    ),
    threshold=4.0,
    heading=_any(r"\bconfiden|\bnon-?disclos"),
)  # fmt: skip

INDEMNITY = Rule(
    "indemnity",
    _any(r"\bindemnif|\bhold harmless|\bheld harmless|\bsave harmless"),
    _signals(
        (4.0, r"\b(?:shall|will|agrees? to|hereby)\b[^.]{0,80}\b(?:indemnify|hold\b[^.]{0,40}\bharmless|defend)"),
        (2.0, r"\b(?:losses|claims?|damages|liabilit(?:y|ies)|expenses)\b[^.]{0,80}\b(?:aris|result|relat|incurred|caused)"),
        (1.0, r"\beach party|\bdefend"),
        (-2.0, r"\bindemnif(?:ied|ying) part(?:y|ies) (?:shall|will)\b|\bprompt(?:ly)? (?:written )?noti|^\"|\bconditions?\b"),
    ),
    threshold=4.0,
    limit=2,
    margin=1.0,
    heading=_any(r"\bindemn"),
)  # fmt: skip

RULES = (TERM, RENEWAL, RENEWAL_NOTICE, GOVERNING_LAW, LIABILITY_CAP, PAYMENT, TERMINATION, ASSIGNMENT,
         CONFIDENTIALITY, INDEMNITY)  # fmt: skip
