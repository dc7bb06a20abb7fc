"""The product in a real Chromium: one house for the session, people of the sample cast, the story in its order.

Words: *visitor* is one person in one browser profile; *shot* is a screenshot for docs/screenshots, made only with
`SCREENSHOTS=1`. `BROWSER_DATA_DIR` names the data folder of a house that runs already, for whoever works on pages.
Dangers: a message on the console, a refused script or style, or a page that throws fails the test of that visitor.
Nothing waits for a length of time: `expect` waits for what a person would see.
"""
