"""Invented skills, commands and subagents, requests that one of them covers, and prompts that none does."""

from __future__ import annotations

INSTALLED = (
    ("release-notes", "Write release notes from the pull requests merged since the last tag.", "skill"),
    ("security-review", "Reviews changed code for injection, authentication and secret handling flaws.", "skill"),
    ("pdf-forms", "Fill, merge and extract text from PDF forms. Use when the user mentions a PDF.", "skill"),
    ("db-migration", "Create a reversible database migration with Alembic and check its downgrade.", "skill"),
    ("changelog-entry", "Add an entry to the changelog for a user visible change.", "skill"),
    ("component-scaffold", "Scaffold a React component with its story, styles and accessibility checks.", "skill"),
    ("perf-profile", "Profile a slow endpoint with py-spy and summarize the flame graph.", "skill"),
    ("translate-strings", "Translate the interface strings of locale files into German and French.", "skill"),
    ("invoice-import", "Convert supplier invoices from CSV into ledger bookings.", "skill"),
    ("deploy-staging", "Deploy the current branch to the staging cluster with Helm.", "command"),
    ("triage", "Review open tickets of the tracker, label them and draft replies.", "command"),
    ("fix-issue", "Fetch an issue by its number, reproduce it, fix it and add a regression test.", "command"),
    ("api-docs-writer", "Writes OpenAPI reference documentation for REST endpoints.", "subagent"),
)
"""Name, description, kind."""

COVERED = """
pdf-forms|merge these three pdfs into one
fix-issue|fix issue 1032 and add a regression test
fix-issue|reproduce and fix #88
security-review|do a security review of the secret handling
release-notes|Write the release notes for 2.4
release-notes|please draft release notes for everything merged since last week
release-notes|Schreib bitte die Release Notes für 2.4
release-notes|生成 release notes
release-notes|Rédige les release notes de la 3.1
security-review|do a review of the changed code: review security of the login handler
security-review|review the authentication changes for injection flaws
security-review|Can you check this branch's security, especially authentication and secret handling
pdf-forms|extract the text from these PDF forms
pdf-forms|fill in the pdf form with the applicant's address
pdf-forms|merge the scanned PDF forms into one file
db-migration|create a db migration that adds a column for the nickname
db-migration|create a reversible database migration for the orders table
db-migration|Crea una migration Alembic para la database de pedidos, reversible
changelog-entry|add a changelog entry for the new export button
changelog-entry|Please write the changelog entry of this change
component-scaffold|scaffold a component for the price tag
component-scaffold|create a React component with story and styles for the avatar
perf-profile|profile the slow search endpoint
translate-strings|translate the strings of the settings dialog
translate-strings|translate the locale files into French
invoice-import|convert the invoices of this supplier from CSV
deploy-staging|deploy this branch to staging
deploy-staging|Now deploy to the staging cluster
triage|review the open tickets and label them
api-docs-writer|write the OpenAPI reference for the REST endpoints
"""
"""A line is the name and a request that it covers."""

NOT_COVERED = """
fix this issue: add a regression test for the total
fill the gap in the form layout
take the tag of the last merged branch
group the pull requests by their tag in the list
use the release-notes skill for 2.4
/release-notes 2.4
@api-docs-writer please look at this
why is the release notes page blank?
the release notes view should scroll
rename the release branch
fix the crash in the PDF viewer
the PDF button is misaligned
where is the database connection opened?
what does this migration do?
fix the failing migration test
the changelog link in the footer is broken
explain how translations are loaded
fix the translation of the save button's tooltip
add a test for the login handler
write a test
review this
review my code
check the code
create a component
add a component that shows the avatar
make the button blue
refactor the user service
deploy failed, why?
the staging server is down
is staging on the same version as production?
write documentation
update the docs
add an endpoint for invoices
why is the endpoint slow?
show all tickets of a user on the profile page
add a label to the ticket form
fix the CSV export
the supplier name is cut off in the invoice list
commit and push
run the tests
thanks, looks good
create a new file for the helper functions
write a function that adds two numbers
implement the feature from the spec
use the current branch
make the tests pass
extract the header into its own file
merge the two config loaders
translate
convert this function to async
generate the types again
summarize what you did
fix the release notes parser
simplify the security review page
update the invoice import screen
analyze the changelog entry dialog
"""
"""A line is a prompt that names one of them itself or that none of them covers."""
