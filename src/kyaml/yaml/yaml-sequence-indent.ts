type SequenceIndent = 'compact' | 'wide'

/**
 * The value of `internal.config.kubernetes.io/seqindent`, by the first list on lines below its key
 * (kyaml `yaml/util.go`, `DeriveSeqIndentStyle`).
 */
export function sequenceIndentOf(text: string): SequenceIndent {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
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

function dashIndent(line: string): number | undefined {
  const match = /^( *)- /.exec(line)
  return match?.[1]?.length
}

function keyIndent(line: string): number {
  const match = /^( *)[^:]*: *$/.exec(line)
  return match?.[1]?.length ?? Number.NaN
}
