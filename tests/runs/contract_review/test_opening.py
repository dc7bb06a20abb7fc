"""Document name, parties and dates, on the openings that contracts have."""

from __future__ import annotations

import pytest

from tests.runs.contract_review import make

OPENINGS = [
    pytest.param(
        'DISTRIBUTOR AGREEMENT\n\nTHIS DISTRIBUTOR AGREEMENT (the "Agreement") is made by and between Elm City Corp., a '
        'Delaware corporation ("Company") and Elm City of Ohio LLC ("Distributor") this 7th day of September, 1999.\n\nRECITALS',
        "DISTRIBUTOR AGREEMENT", ["Elm City Corp.", "Elm City of Ohio LLC"], "1999-09-07", None, id="date after the parties",
    ),
    pytest.param(
        'CO-BRANDING AGREEMENT\n\nThis Co-Branding Agreement (this "Agreement"), dated as of June 21, 1999 (the "Effective Date"), is '
        'entered into between E-PAY, INC., with its principal place of business at 17 S. Amp Blvd., Suite 215, San Mateo, '
        'California 94402 ("e-Pay"), and 2SHOP.COM, INC. having its principal place of business at 18 Karman Avenue ("2Shop").\n1. DEFINITIONS.',
        "CO-BRANDING AGREEMENT", ["E-PAY, INC.", "2SHOP.COM, INC."], "1999-06-21", "1999-06-21", id="addresses",
    ),
    pytest.param(
        "MAINTENANCE AGREEMENT\n\nby and between\n\nAZURE LINHAS S.A.\n\nand\n\nROWAN PLC\n\nDated as of 14 March 2016\n\nTABLE OF CONTENTS\n1. Definitions\n",
        "MAINTENANCE AGREEMENT", ["AZURE LINHAS S.A.", "ROWAN PLC"], "2016-03-14", None, id="cover page",
    ),
    pytest.param(
        'AGREEMENT made this 12th day of May, 1997 between John A. Smith ("Consultant") residing at 12 Elm Street, and Acme Widgets '
        'Corp., a New York corporation (the "Company").\nW I T N E S S E T H',
        "AGREEMENT", ["John A. Smith", "Acme Widgets Corp."], "1997-05-12", None, id="a person",
    ),
    pytest.param(
        "ENDORSEMENT AGREEMENT\nTHIS ENDORSEMENT AGREEMENT is made effective the 25th day of August 2004, between Big Sky, Inc. and Karen Jones.\nWHEREAS",
        "ENDORSEMENT AGREEMENT", ["Big Sky, Inc.", "Karen Jones"], "2004-08-25", "2004-08-25", id="no aliases",
    ),
    pytest.param(
        'AMENDED AND RESTATED\nMANAGEMENT AGREEMENT\nThis Amended and Restated Management Agreement ("Agreement"), entered into and effective '
        'as of March 1, 2012 ("Effective Date"), by and among Alpha Holdings, L.P., a Delaware limited partnership, Beta Partners LP, a '
        'Delaware limited partnership, and Gamma GP, LLC, a Delaware limited liability company (collectively, "Sellers").\nRECITALS',
        "AMENDED AND RESTATED\nMANAGEMENT AGREEMENT", ["Alpha Holdings, L.P.", "Beta Partners LP", "Gamma GP, LLC"], "2012-03-01", "2012-03-01", id="a list",
    ),
    pytest.param(
        "THIS AGREEMENT is dated the 1st day of June 2010\nBETWEEN:\n(1) ACME LIMITED, a company incorporated in England (registered no. 1234) whose "
        'registered office is at 1 High Street, London (the "Supplier"); and\n(2) BETA PLC, a company (the "Customer").\nBACKGROUND',
        "AGREEMENT", ["ACME LIMITED", "BETA PLC"], "2010-06-01", None, id="numbered parties",
    ),
    pytest.param(
        "Strategic Alliance Agreement\nConfidential\nThis Strategic Alliance Agreement (the “Agreement”) is made on 15 January 2018 (“Effective "
        "Date”)\nBetween\nGamma Biotech GmbH, Hauptstr. 1, 10115 Berlin, Germany (hereinafter referred to as “Gamma”)\nand\nDelta Pharma Co., Ltd., "
        "2-1 Marunouchi, Tokyo, Japan (hereinafter referred to as “Delta”).\nWhereas",
        "Strategic Alliance Agreement", ["Gamma Biotech GmbH", "Delta Pharma Co., Ltd."], "2018-01-15", "2018-01-15", id="curly quotes",
    ),
    pytest.param(
        "Software License Contract\n\nContract Execution Date: May 25, 2009\n\nParty A (“Licensee”): Gui Yi Supermarket\nDevelopment Co., Ltd.\n"
        "Address: 225 Road\n\nParty B (“Licensor”): Shen CC Power Corporation\n\nAddress: Unit 501\n\n1.\nAs the owner of rights",
        "Software License Contract", ["Gui Yi Supermarket\nDevelopment Co., Ltd.", "Shen CC Power Corporation"], "2009-05-25", None, id="labelled parties",
    ),
    pytest.param(
        "SHAREHOLDERS AGREEMENT\nThis Shareholders Agreement is made as of May 2, 2011 by and among Alpha, Inc., Beta Holdings LLC and Gamma Corp.\n1. X",
        "SHAREHOLDERS AGREEMENT", ["Alpha, Inc.", "Beta Holdings LLC", "Gamma Corp."], "2011-05-02", None, id="commas",
    ),
    pytest.param(
        'MASTER SERVICES AGREEMENT (m-12)\n\nThis Master Services Agreement (this "Agreement") is entered into on May 2, 2011 by and between\n'
        'Acme Advisory Group and Northwind Systems, Inc. (the "Parties").\n\n1. SERVICES.',
        "MASTER SERVICES AGREEMENT (m-12)", ["Acme Advisory Group", "Northwind Systems, Inc."], "2011-05-02", None, id="only the parties have an alias",
    ),
    pytest.param(
        'AMENDMENT NO. 2 TO SERVICES AGREEMENT\nThis Amendment No. 2 (this "Amendment") to the Services Agreement dated as of May 1, 2015 (the '
        '"Original Agreement") is entered into as of June 3, 2017 by and between Foo Partners, L.P. ("Foo") and Bar LLC ("Bar").\nWHEREAS',
        "AMENDMENT NO. 2 TO SERVICES AGREEMENT", ["Foo Partners, L.P.", "Bar LLC"], "2017-06-03", None, id="the date of another contract",
    ),
    pytest.param(
        "WEB HOSTING AGREEMENT\nThis Web Hosting Agreement is entered into as of this ___ day of ______, 2001 between Centrack, Incorporated "
        '("Centrack") and Parent & Co.\n1. Services',
        "WEB HOSTING AGREEMENT", ["Centrack, Incorporated", "Parent & Co."], None, None, id="blank date",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "parties", "agreed", "effective"), OPENINGS)
def test_opening(text: str, name: str, parties: list[str], agreed: str | None, effective: str | None) -> None:
    result = make.review(text)
    assert [finding["text"] for finding in make.of(result, "document_name")] == [name]
    assert [finding["text"] for finding in make.of(result, "parties")] == parties
    assert make.only(result, "agreement_date")["value"]["date"] == agreed
    assert [finding["value"]["date"] for finding in make.of(result, "effective_date")] == (
        [effective] if effective else []
    )


def test_a_blank_date_is_quoted_and_has_no_value() -> None:
    finding = make.only(
        make.review(
            "LEASE AGREEMENT\nThis Lease Agreement is made as of [•], 2020 between A, Inc. and B, Inc.\n1. X"
        ),
        "agreement_date",
    )
    assert finding["text"] == "[•], 2020"
    assert finding["value"] == {"date": None, "blank": True}
    assert finding["reason_code"] == "blank"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "Exhibit 10.4 FORM OF SUPPLY AGREEMENT\nThis Supply Agreement is made between A, Inc. and B, Inc.",
            "SUPPLY AGREEMENT",
        ),
        (
            "ACME LICENSE HOLDINGS, LLC\nSUPPLY AGREEMENT\nThis Supply Agreement is made between A, Inc. and B, Inc.",
            "SUPPLY AGREEMENT",
        ),
        (
            "LICENSE AGREEMENT BETWEEN ALPHA, INC. AND BETA, INC.\nThis Agreement is made between Alpha, Inc. and Beta, Inc.",
            "LICENSE AGREEMENT",
        ),
        (
            "MASTER SERVICES\nAGREEMENT\nThis Agreement is made between A, Inc. and B, Inc.",
            "MASTER SERVICES\nAGREEMENT",
        ),
        ("This Supply Agreement is made between A, Inc. and B, Inc. on the terms below.", "Supply Agreement"),
    ],
)
def test_document_name(text: str, name: str) -> None:
    assert make.only(make.review(text), "document_name")["text"] == name


def test_dates_away_from_the_opening_are_found() -> None:
    text = (
        "SUPPLY AGREEMENT\n\nThis Supply Agreement is made by and between A, Inc. and B, Inc.\n\n1. The date on which both have "
        'signed shall be the "Effective Date".\n\nIN WITNESS WHEREOF, the parties have signed on the 4th day of May, 2021.\n'
    )
    result = make.review(text)
    assert make.only(result, "agreement_date")["value"]["date"] == "2021-05-04"
    assert make.only(result, "effective_date")["text"].startswith("The date on which both have signed")
