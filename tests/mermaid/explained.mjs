// The differences that are meant. Each is documented in compiler/src/front/mermaid/DIFFERENCES.md.

/** Why two answers differ as they should, or `null`. */
export function explained({ ours, theirs }, kind) {
  if (kind === 'only Mermaid refuses') {
    // `state a` above a line with `{`: two declarations.
    const found = /^Error: State name must be a single word\. Found: "([^]*)"$/.exec(theirs.error);
    if (found && /^\w+[^\S\n]*\n/.test(found[1])) return 'state x above a line with {';
  }
  if (kind === 'only Mermaid refuses' && theirs.error.includes('Group nodes can only have label') && ours.states.some(({ id }) => /<[^]*>/.test(id))) return 'HTML in the name of a composite with a text';
  if (kind === 'only Statemark refuses' && ours.error.endsWith('nested deeper than 64')) return 'more than 64 composites inside one another';
  if (kind === 'another model' && withoutMarkup(ours) === withoutMarkup(theirs)) return 'HTML in a label that a browser repairs';
  // The two libraries for YAML disagree on tags, recursive aliases and indents.
  if (kind === 'only Mermaid refuses' && / \(\d+:\d+\)\n/.test(theirs.error)) return 'YAML that only one library reads';
  if (kind === 'only Statemark refuses' && ours.error.includes('front matter is not YAML')) return 'YAML that only one library reads';
  return null;
}

/** A model without the labels that hold tags, on either side. */
function withoutMarkup({ direction, states, transitions }) {
  const plain = ({ label, ...rest }) => ({ ...rest, label: /<[a-z]/i.test(label) ? '' : label.replace(/&\w+;/g, '') });
  return JSON.stringify({ direction, states: states.map(plain), transitions: transitions.map(plain) });
}
