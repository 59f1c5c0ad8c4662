/**
 * What a run has handed in: contents, revisions and their differences, and the findings of contracts beside the lines.
 */

import { all, getContent, path } from './api.js';
import { html, useMemo, useState, List, Loading, Problem, Status, line, shown, useRead, to } from './parts.js';
import { Diff } from './diff.js';

const bytes = (n) => (n === undefined ? '' : n < 1024 ? `${n} B` : n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`);

/** A content with the findings at their lines. */
function Lines({ text, findings }) {
  const rows = useMemo(() => text.split('\n').flatMap((it, at) => [
    { number: at + 1, text: it },
    ...(findings ?? []).filter((finding) => (finding.line ?? 0) === at + 1).map((finding) => ({ finding })),
  ]), [text, findings]);
  const elsewhere = (findings ?? []).filter((it) => !it.line || it.line > text.split('\n').length);
  return html`${elsewhere.map((it, at) => html`<p key=${at} class="finding">${shown(it.what ?? it.message)}${it.help ? html` <span class="dim">${shown(it.help)}</span>` : null}</p>`)}
    <div class="lines"><${List} id="lines" label="Content" count=${rows.length} height=${20} row=${(index) => {
      const row = rows[index];
      if (row.finding) return html`<div class="line finding"><span class="number"></span><span class="sign">▲</span><span>${line(`${row.finding.what ?? row.finding.message ?? ''}${row.finding.help ? ` — ${row.finding.help}` : ''}`, 400)}</span></div>`;
      return html`<div class="line"><span class="number">${row.number}</span><code>${shown(row.text)}</code></div>`;
    }} /></div>`;
}

function Content({ id, name, artifact, seq }) {
  const last = Math.max(artifact.revisions ?? 1, artifact.revision, artifact.draft?.revision ?? 0);
  const [revision, setRevision] = useState(null);
  const [against, setAgainst] = useState('');
  const chosen = revision ?? artifact.revision;
  const { value, error, loading } = useRead(() => getContent(id, name, chosen), [id, name, chosen, seq]);
  const other = useRead(async () => (against ? getContent(id, name, Number(against)) : null), [id, name, against]);
  const numbers = Array.from({ length: last }, (_, at) => at + 1);
  return html`<section class="artifact" aria-label=${`Artifact ${name}`}>
    <div class="bar"><h2>${shown(name)}</h2>
      <label for="revision">revision</label><select id="revision" value=${chosen} onChange=${(it) => setRevision(Number(it.target.value))}>${numbers.map((it) => html`<option key=${it} value=${it}>${it}${it === artifact.revision ? ' (stands)' : ''}</option>`)}</select>
      <label for="against">compared with</label><select id="against" value=${against} onChange=${(it) => setAgainst(it.target.value)}><option value="">nothing</option>${numbers.filter((it) => it !== chosen).map((it) => html`<option key=${it} value=${it}>${it}</option>`)}</select>
      ${value ? html`<span class="dim">${shown(value.stage)}, ${shown(value.media ?? '')} ${bytes(value.size)}</span> <${Status} of=${value.valid === false ? 'fails' : 'holds'} />` : null}</div>
    <${Problem} error=${error ?? other.error} />
    ${!value && loading ? html`<${Loading} what="the content" />` : null}
    ${value && against && other.value ? html`<${Diff} before=${other.value.content ?? ''} after=${value.content ?? ''} />`
      : value ? (value.content === undefined
        ? html`<p class="dim">${value.path ? html`It is the file <code>${shown(value.path)}</code>${value.storage_root ? html` below <code>${shown(value.storage_root)}</code>` : null}; the store doesn't have its text.` : 'Its content is no text.'}</p>`
        : html`<${Lines} text=${value.content} findings=${value.diagnostics} />`) : null}
  </section>`;
}

/** The tab of artifacts. */
export function Artifacts({ id, seq, rest }) {
  const { value, error } = useRead(() => all(path('runs', id, 'artifacts'), {}, 'artifacts'), [id, seq]);
  const name = rest[0] ?? value?.[0]?.name;
  const chosen = value?.find((it) => it.name === name);
  if (error && !value) return html`<${Problem} error=${error} />`;
  if (!value) return html`<${Loading} what="the artifacts" />`;
  if (!value.length) return html`<p class="empty">Nothing was handed in yet.</p>`;
  return html`<div class="split open artifacts">
    <ul class="picker" aria-label="Artifacts">${value.map((it) => html`<li key=${it.name}><a href=${to('runs', id, 'artifacts', it.name)} aria-current=${it.name === name ? 'true' : undefined}>
      <span>${line(it.name, 60)}</span> <${Status} short of=${it.valid ? 'holds' : 'fails'} /><br /><span class="dim">${it.stage} ${it.revision}${it.step ? `, in ${line(it.step, 40)}` : ''}${it.unit ? `, ${line(it.unit, 40)}` : ''}${it.feature ? `, ${line(it.feature, 40)}` : ''}${it.path ? html`<br /><code>${line(it.path, 80)}</code>` : null}${it.subflow ? ', of a subflow' : ''}${it.draft ? `, newer draft ${it.draft.revision}` : ''}</span></a></li>`)}</ul>
    ${chosen ? html`<${Content} key=${chosen.name} id=${id} name=${chosen.name} artifact=${chosen} seq=${seq} />` : null}</div>`;
}
