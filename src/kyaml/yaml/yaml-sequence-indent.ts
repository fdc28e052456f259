/** The indentation of lists that kpt detects in a document, and with which it writes all its lists. */
type SequenceIndent = 'compact' | 'wide'

/**
 * The value of `internal.config.kubernetes.io/seqindent`: the indentation of the first list on lines below its key, if it is 0 or 2 (kyaml
 * `yaml/util.go`, `DeriveSeqIndentStyle`).
 * @param text one document, LF or CRLF
 */
export function sequenceIndentOf(text: string): SequenceIndent {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  // The last line above that is not only a comment, without its own comment.
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

/** Spaces before a `- `; undefined for any other line. */
function dashIndent(line: string): number | undefined {
  const match = /^( *)- /.exec(line)
  return match?.[1]?.length
}

/** Spaces before a key with nothing behind its colon; NaN for any other line. */
function keyIndent(line: string): number {
  const match = /^( *)[^:]*: *$/.exec(line)
  return match?.[1]?.length ?? Number.NaN
}
