"""Chat, by apprise: which services there are, and how one message leaves.

Only services of the list in ``services`` are taken, and of the library only the code that puts a message into their words:
what it believes to be ``requests`` is ``line.Line``, whose one way out is the egress function that the roof has set. So an
address inside our own network is refused, no redirect is followed, certificates are always checked, every call has an end.

Dangers: an address is a secret (whoever has it may write there); it is sealed, and no error says more than its host.
"""
