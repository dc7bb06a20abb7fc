"""Which sentences the clause rules take, on wordings that commercial contracts use all the time."""

from __future__ import annotations

import pytest

from runs.agents.contract_review.clauses import score
from runs.agents.contract_review.rules import RULES

BY_FIELD = {rule.field: rule for rule in RULES}

TAKEN = [
    ("expiration", "This Agreement shall be effective as of the Effective Date and shall continue in full force and effect for a period of five (5) years unless terminated earlier as provided herein."),
    ("expiration", "The term of this Agreement shall be for a period of ten (10) years from the date hereof."),
    ("expiration", "Unless earlier terminated in accordance with this Article, the term of this Agreement will begin on the Effective Date and end on the third anniversary thereof."),
    ("expiration", 'This Agreement shall have an initial term of three (3) years commencing on the Effective Date (the "Initial Term").'),
    ("expiration", "This Agreement will expire on December 31, 2025 unless renewed."),
    ("expiration", "The initial term of this Agreement shall commence on the Effective Date and expire on December 31, 2010."),
    ("expiration", "The Term of this Agreement shall be two (2) years from the Effective Date and shall be automatically renewed for successive one year periods unless either party gives notice at least 60 days prior to the end of the then current term."),
    ("expiration", "The term hereof shall commence on the date first written above and shall continue for twelve months."),
    ("expiration", "This Agreement shall be valid for one year from the date of execution."),
    ("expiration", "This Agreement shall remain in force for a period of 1 year from the Effective Date."),
    ("expiration", "Subject to Section 10.2, this Agreement shall remain in effect until the fifth anniversary of the Effective Date."),
    ("expiration", '"Term" means the period beginning on the Effective Date and ending on the fifth anniversary of the Effective Date.'),
    ("expiration", "The initial term of this Agreement is five years."),
    ("expiration", "This Agreement will terminate on the earlier to occur of (a) the date on which the last payment is made and (b) the dissolution of the Issuer."),
    ("expiration", "This Agreement shall commence on the Effective Date and shall continue until terminated by either party."),
    ("expiration", "This Agreement is effective as of the Effective Date and, unless sooner terminated, shall expire upon the expiration of the last Royalty Term."),
    ("expiration", "This Agreement shall become effective upon execution and shall continue for a term of three (3) years."),
    ("expiration", "The term of this Agreement commences on the Effective Date and continues in perpetuity."),
    ("renewal", "This Agreement shall automatically renew for successive one (1) year terms unless either party gives notice of non-renewal."),
    ("renewal", "Thereafter, the Agreement will be automatically extended for additional one-year periods."),
    ("renewal", "Licensee shall have the option to renew this Agreement for two additional terms of five years each."),
    ("renewal", "Upon expiration of the Initial Term, this Agreement shall automatically renew for consecutive terms of one year."),
    ("renewal", 'The Term shall be extended automatically for one year periods (the "Renewal Terms") unless terminated.'),
    ("renewal", "This Agreement may be renewed by the Customer for up to three additional one (1) year periods by written notice."),
    ("renewal", "The term will automatically be extended for additional twelve (12) month periods unless either party notifies the other."),
    ("renewal", "At the end of the Initial Term this Agreement shall continue from year to year unless terminated by either party on ninety days notice."),
    ("renewal_notice", "This Agreement renews automatically unless either Party gives the other notice of its intent not to renew at least ninety (90) days prior to the expiration of the then-current term."),
    ("renewal_notice", "Either party may elect not to renew this Agreement by giving at least sixty (60) days written notice before the end of the Initial Term."),
    ("renewal_notice", "It shall renew for successive one-year terms unless terminated by either party upon at least thirty days written notice prior to the end of any term."),
    ("renewal_notice", "The Distributor must notify the Company in writing of its decision not to renew not less than six months prior to the expiration of the Initial Term."),
    ("governing_law", "This Agreement will be governed by and construed under the laws of the State of California without regard to conflicts of law principles."),
    ("governing_law", "This Agreement is made under and shall be construed according to the laws of Delaware."),
    ("governing_law", "The laws of the State of New York shall govern this Agreement."),
    ("governing_law", "This Agreement shall be governed by New York law."),
    ("governing_law", "This Agreement shall be governed by, and interpreted in accordance with, English law."),
    ("governing_law", "This Contract shall be governed exclusively by the laws of the State of Israel."),
    ("governing_law", "The validity and interpretation of this Agreement shall be governed by the law of The Netherlands."),
    ("governing_law", "This Agreement shall be construed and enforced in accordance with the laws of the Commonwealth of Pennsylvania."),
    ("liability_cap", "In no event shall either party's aggregate liability exceed the fees paid in the twelve months before the claim."),
    ("assignment", "Neither party may assign this Agreement without the prior written consent of the other party."),
    ("indemnity", "Supplier shall indemnify, defend and hold harmless Customer from all losses arising out of any third party claim."),
    ("payment_terms", "Customer shall pay each invoice within thirty (30) days of receipt of the invoice."),
    ("termination", "Either party may terminate this Agreement for convenience upon sixty (60) days written notice."),
    ("confidentiality", "The receiving party shall not disclose Confidential Information to any third party."),
    ("governing_law","This Agreement is made under and subject to the provision of the substantive laws of the State of New York, without giving effect to its conflict of law rules."),
    ("governing_law","This Agreement, after review by Developer, was accepted in the state in which Franchisor's headquarters is located and shall be governed by and construed in accordance with the laws of such state."),
    ("governing_law","The laws of California govern the interpretation, validity and effect of this Agreement."),
    ("governing_law","All questions concerning the construction, validity and interpretation of this Agreement will be governed by the internal law of Delaware."),
    ("governing_law","THE VALIDITY, CONSTRUCTION AND ENFORCEMENT OF THIS AGREEMENT SHALL BE DETERMINED BY THE LAWS OF THE STATE OF TEXAS."),
    ("governing_law","This Agreement shall be subject to and construed in accordance with the laws of England and Wales."),
    ("expiration","Notwithstanding any provision to the contrary contained herein, unless earlier terminated by either party, this Agreement shall expire on ______, 20___, and all rights of Developer herein shall cease and all unapplied fees shall be forfeited."),
    ("expiration",'The initial term of this Agreement (the "Initial Term") shall commence on the Effective Date and shall end on the date that payment is due for Minimum Payment Period 7, pursuant to Section 2.4 hereof, unless earlier terminated as provided herein.'),
    ("expiration","This Agreement shall continue in force for a period of ten (10) years commencing with the date of this Agreement and may thereafter be renewed by mutual agreement."),
    ("expiration","The term of this Agreement shall be for one (1) year from the date hereof."),
    ("expiration","This Agreement shall have an initial term commencing on the Effective Date and continuing until December 31, 2024."),
    ("expiration","Unless sooner terminated as provided herein, this Agreement shall continue in effect until [ ]."),
    ("expiration",'The term of this Agreement is for a period of five (5) years (the "Term") commencing on the Effective Date and, unless terminated earlier in accordance with the termination provisions of the Agreement, ending on January 31, 2025.'),
    ("expiration","The license granted in this Agreement shall commence upon the Effective Date and shall remain in effect until the tenth anniversary thereof."),
    ("expiration","The Initial Term of this Agreement shall be for five (5) years, commencing on the Effective Date, unless sooner terminated."),
    ("expiration","This Outsourcing Agreement shall take effect on the Effective Date and continue until the fifth anniversary of that date."),
    ("expiration","The term of the license granted by this Agreement is perpetual."),
    ("expiration","This Agreement will become effective on the Effective Date and will remain in effect for the Initial Term, unless terminated earlier."),
    ("expiration","The Agreement shall be effective on the date of the last signature and shall expire three years thereafter."),
    ("expiration","Unless terminated earlier under this Article, this Agreement will be in effect for three (3) years after the Effective Date."),
    ("expiration","The term of this Lease shall be sixty (60) months beginning on the first day of May, 2001."),
    ("expiration","Subject to earlier termination as provided herein, the term shall be for five (5) Contract Years."),
    ("expiration","This Agreement shall remain in full force and effect until all Products have been delivered and paid for."),
    ("expiration","The Agreement commences on 1 January 2019 and, unless terminated earlier, ends on 31 December 2021."),
    ("renewal","Upon completion of the Initial Term, this Agreement shall be automatically renewed for periods of 12 months each unless terminated."),
    ("renewal","At the expiration of the Initial Term, this Agreement shall renew on a year to year basis."),
    ("renewal","This Agreement may be extended for two (2) successive one-year terms at the option of the Customer."),
    ("renewal","Company may extend the term of this Agreement for a further period of twelve (12) months by giving written notice."),
    ("renewal","Such term shall automatically renew for additional one year terms, unless either party gives written notice to the other."),
    ("renewal","Franchisee may, at its option, renew this Agreement for two additional consecutive terms of five years each, subject to the following conditions."),
    ("renewal_notice","Either party may terminate this Agreement effective at the end of the Initial Term or any renewal term by written notice given at least 180 days before the end of such term."),
    ("renewal_notice","unless one Party notifies the other of its desire not to renew no later than 60 days prior to the end of the then-current term"),
    ("renewal_notice","This Agreement will be renewed automatically for one-year terms unless written notice of termination is given by either party at least six (6) months prior to the expiration date."),
]  # fmt: skip

LEFT = [
    ("expiration", "If any term of this Agreement is held to be invalid, the remaining terms shall remain in full force and effect."),
    ("expiration", "During the term of this Agreement and for a period of seven years after its expiration each party shall keep the information confidential."),
    ("expiration", "Upon expiration or termination of this Agreement, Licensee shall cease all use of the Marks."),
    ("expiration", "Either party may terminate this Agreement upon thirty (30) days written notice."),
    ("expiration", "Supplier shall maintain the insurance policies for the term of this Agreement and two years thereafter."),
    ("expiration", "Sections 5 and 6 shall survive the expiration of this Agreement and remain in effect."),
    ("expiration", "Within ninety days after the end of each fiscal year ended December 31, 2020, the Servicer will deliver a report."),
    ("expiration", "This Agreement, together with its exhibits, contains the entire agreement of the parties."),
    ("renewal", "The Term shall be extended by such number of days as equals the length of the delay."),
    ("renewal", "Licensor shall be responsible for filing and renewing the registrations of the Marks."),
    ("renewal", "Supplier shall give thirty days notice of cancellation or non-renewal of any insurance policy."),
    ("renewal", "The term may be extended only by mutual written agreement of the Parties."),
    ("renewal_notice", "Either party may terminate this Agreement at any time for any reason upon thirty (30) days written notice."),
    ("renewal_notice", "The defaulting party shall have thirty days after notice of breach to cure."),
    ("governing_law", "Licensee shall comply with all applicable laws of the Territory that govern the sale of the Products."),
    ("governing_law", "Purchase Orders shall be governed by this Agreement."),
    ("expiration","The Option shall expire on the third anniversary of the Effective Date."),
    ("expiration","Licensor grants Licensee, for the term of this Agreement, an exclusive license to use the Marks in the Territory."),
    ("expiration","The confidentiality obligations shall continue for five years after the term of this Agreement."),
    ("expiration","Seller's warranty shall remain in effect for a period of twelve (12) months from delivery."),
    ("expiration","If this Agreement is terminated before the end of the term of this Agreement, Licensee shall pay a fee."),
    ("expiration","This Agreement shall be effective and binding upon the successors and assigns of the parties."),
    ("expiration","No amendment of this Agreement shall be effective unless in writing and signed by both parties."),
    ("expiration","This Agreement may be executed in counterparts and shall become effective when each party has signed."),
    ("expiration","Each party shall comply with the terms and conditions of this Agreement during the Initial Term."),
    ("expiration","Such termination shall be effective thirty (30) days after the date of the notice."),
    ("renewal","Any renewal of the lease shall require Landlord's consent and payment of the renewal fee for the premises."),
    ("renewal","The parties shall successively agree on additional terms for each Statement of Work."),
    ("renewal","Payment shall be extended to additional periods under the following terms."),
    ("renewal_notice","Provider shall give notice of price changes at least sixty (60) days before the end of the calendar year."),
    ("governing_law","Each party shall perform its obligations in accordance with the laws of the State of Ohio and other applicable laws."),
    ("governing_law","Acme is a corporation organized and existing under the laws of the State of Delaware."),
]  # fmt: skip


@pytest.mark.parametrize(("field", "sentence"), TAKEN)
def test_takes_the_sentence_that_states_it(field: str, sentence: str) -> None:
    rule = BY_FIELD[field]
    assert score(rule, sentence, "") >= rule.threshold


@pytest.mark.parametrize(("field", "sentence"), LEFT)
def test_leaves_the_sentence_that_only_mentions_it(field: str, sentence: str) -> None:
    rule = BY_FIELD[field]
    assert score(rule, sentence, "") < rule.threshold
