// Give names to controls that Datasette's own pages leave unnamed for screen readers, and show the description of the
// columns only on demand, so that rows come first; our pages have no script.
const NAMES = {
  "select[name^=_filter_column]": "Column to filter by",
  "select[name^=_filter_op]": "How to compare",
  "input[name^=_filter_value]": "Value to compare with",
  "select[name=_sort]": "Column to sort by",
  ".CodeMirror textarea, .cm-content, textarea[name=sql]": "SQL",
};

document.documentElement.lang ||= "en";
addEventListener("load", () => setTimeout(() => {
  for (const [where, name] of Object.entries(NAMES)) {
    for (const one of document.querySelectorAll(where)) one.setAttribute("aria-label", name);
  }
  for (const columns of document.querySelectorAll("dl.column-descriptions")) {
    const folded = document.createElement("details");
    folded.append(Object.assign(document.createElement("summary"), { textContent: "What the columns say" }));
    columns.replaceWith(folded);
    folded.append(columns);
  }
}));
