"""docs/survey.html: one file, no network; sorts, filters, and shows the details of each tool."""

import html
import json

import words

STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--bad:#b3261e;--ok:#1b6e3a}
@media(prefers-color-scheme:dark){:root{--bad:#ff8a80;--ok:#7fd69a}}
body{font:15px/1.45 system-ui,sans-serif;margin:1.5rem auto;max-width:90rem;padding:0 1rem}
h1{font-size:1.4rem}p{max-width:60rem}
input{font:inherit;padding:.3rem .5rem;width:22rem;max-width:100%}
label{margin-right:1rem}.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.85rem}
th,td{border-bottom:1px solid var(--line);padding:.3rem .5rem;text-align:left;vertical-align:top}
th{position:sticky;top:0;background:Canvas}th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible{outline:2px solid}th[aria-sort=ascending] button::after{content:" \\25B2"}
th[aria-sort=descending] button::after{content:" \\25BC"}
.bad{color:var(--bad)}tr.more>td{background:var(--soft)}summary{cursor:pointer;white-space:nowrap;font-weight:600}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2rem 0;font-size:.8rem}
dt{font-weight:600;margin-top:.4rem}dd{margin:0 0 0 1rem}td:has(details[open]){min-width:28rem}
"""

SCRIPT = """
const body=document.querySelector('tbody'),find=document.querySelector('#find');
const only=document.querySelector('#only');
const rows=[...body.rows];
function show(){const text=find.value.toLowerCase();let n=0;
for(const row of rows){
row.hidden=!(row.textContent.toLowerCase().includes(text)&&(!only.checked||row.dataset.bad));n+=!row.hidden}
document.querySelector('#count').textContent=n+' of '+rows.length+' tools'}
find.oninput=only.onchange=show;show();
document.querySelectorAll('th button').forEach((button,index)=>button.onclick=()=>{
const head=button.parentNode,down=head.getAttribute('aria-sort')==='ascending';
document.querySelectorAll('th').forEach(other=>other.removeAttribute('aria-sort'));
head.setAttribute('aria-sort',down?'descending':'ascending');
const key=row=>row.cells[index].dataset.key??row.cells[index].textContent;
rows.sort((a,b)=>{const x=key(a),y=key(b);const order=isNaN(x-y)?x.localeCompare(y):x-y;return down?-order:order});
body.append(...rows)});
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
HEADS = ("tool", "walk", "part", "all", "again", "read", "refused (EDEADLK)", "failing (EIO)", "slow (400 ms)",
         "to know")


def escaped(value):
    return html.escape(str(value))


def details(tool):
    """The commands, and each case with all that is known of it."""
    out = []
    for case in words.CASE_TITLES:
        if not (result := tool["cases"].get(case)):
            continue
        command = tool["commands"].get(case) or tool["commands"].get("all") or tool["commands"].get("walk")
        shown = {key: value for key, value in result.items() if not key.endswith("_names")}
        told = ", ".join(f"{key.replace('_', ' ')}: {value}" for key, value in shown.items())
        lines = [f"<pre>$ {escaped(command)}</pre><pre>{escaped(told)}</pre>"]
        for key in ("file_names", "directory_names"):
            if key in result:
                lines.append(f"<pre>{key.split('_')[0]}: {escaped(json.dumps(result[key]))}</pre>")
        out.append(f"<dt>{escaped(words.CASE_TITLES[case])}</dt><dd>{''.join(lines)}</dd>")
    return "<dl>" + "".join(out) + "</dl>"


def row(name, tool):
    if "missing" in tool:
        return f'<tr><td>{escaped(name)}</td><td colspan="9">missing: {escaped(tool["missing"])}</td></tr>'
    cases, alarms = tool["cases"], words.alarms(tool)
    whole = cases.get("all") or cases.get("walk") or cases.get("part")
    cells = [f'<td data-key="{escaped(name)}"><details><summary>{escaped(name)}</summary>{escaped(tool["package"])} '
             f'{escaped(tool["version"])}{details(tool)}</details></td>']
    for case in ("walk", "part", "all"):
        result = cases.get(case)
        cells.append(f'<td data-key="{result["bytes"] if result else -1}">{escaped(words.amount(result))}</td>')
    cells.append(f"<td>{escaped(words.again(cases.get('again')))}</td>")
    read = f"{whole['read']} %, {words.VERDICTS[whole['verdict']]}" if whole["files"] else "-"
    cells.append(f'<td data-key="{whole["read"] if whole["files"] else -1}">{escaped(read)}</td>')
    cells += [f"<td>{escaped(words.fault(cases.get(case)))}</td>" for case in ("refused", "failing")]
    cells.append(f"<td>{escaped(words.slow(cases.get('slow')))}</td>")
    cells.append(f'<td class="bad">{escaped("; ".join(alarms))}</td>')
    return f'<tr{" data-bad=1" if alarms else ""}>{"".join(cells)}</tr>'


def document(results):
    tools = sorted(results["tools"].items(), key=lambda item: item[0].lower())
    tree = results.get("tree", {"files": 0, "bytes": 0, "directories": 0})
    changes = "".join(f"<li><b>{escaped(name)}</b>: {escaped('; '.join(lines))}</li>"
                      for name, lines in sorted(results["changes"].items())) or "<li>none</li>"
    heads = "".join(f'<th scope="col"><button type="button">{escaped(head)}</button></th>' for head in HEADS)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>Tools of Debian on dataless files</title><style>{STYLE}</style></head><body>
<h1>What tools of Debian do with dataless files</h1>
<p>Each tool on one tree of {tree["files"]} files ({words.size(tree["bytes"])}) in {tree["directories"]} directories;
every case begins with everything dataless. A tool opens to its commands, what it materialized and what it said.
SURVEY.md explains the cases.</p>
<p><label>Filter <input id="find" type="search" autofocus></label>
<label><input id="only" type="checkbox" style="width:auto"> only with something to know</label>
<span id="count" role="status"></span></p>
<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>
{chr(10).join(row(*item) for item in tools)}
</tbody></table></div>
<h2>Changes since the last survey</h2><ul>{changes}</ul>
<script>{SCRIPT}</script></body></html>
"""
