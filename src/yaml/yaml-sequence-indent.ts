/** How a document indents its lists: kpt finds it out when it reads, and writes all lists of the document so. */

export type SequenceIndent = 'compact' | 'wide'

/**
 * The value of `internal.config.kubernetes.io/seqindent`: that of the first list that stands below a key on lines of their
 * own (kyaml `yaml/util.go`, `DeriveSeqIndentStyle`). Other distances than 0 and 2 say nothing.
 * @param text one document, LF or CRLF
 */
export function sequenceIndentOf(text: string): SequenceIndent {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  // The key line of the line at hand: the last one above that is not only a comment, without its own comment.
  let keyLine = ''
  for (const line of lines) {
    const indent = dashIndent(line)
    if (indent !== undefined) {
      const distance = indent - keyIndent(keyLine)
      if (distance === 0) return 'compact'
      if (distance === 2) return 'wide'
    }
    if (!/^ *#/.test(line)) keyLine = line.split('#', 1)[0] ?? ''
  }
  return 'compact'
}

/** Spaces before a `- `; undefined for a line that begins otherwise. */
function dashIndent(line: string): number | undefined {
  const match = /^( *)- /.exec(line)
  return match?.[1]?.length
}

/** Spaces before a key with nothing behind its colon; NaN for any other line. */
function keyIndent(line: string): number {
  const match = /^( *)[^:]*: *$/.exec(line)
  return match?.[1]?.length ?? Number.NaN
}
