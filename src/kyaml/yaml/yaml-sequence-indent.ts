type SequenceIndent = 'compact' | 'wide'

/**
 * The value of `internal.config.kubernetes.io/seqindent`, by the first list on lines below its key
 * (kyaml `yaml/util.go`, `DeriveSeqIndentStyle`).
 */
export function detectSequenceIndent(text: string): SequenceIndent {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  let keyLine = ''
  for (const line of lines) {
    const indent = findDashIndent(line)
    if (indent !== undefined) {
      const distance = indent - getKeyIndent(keyLine)
      if (distance === 0) return 'compact'
      if (distance === 2) return 'wide'
    }
    if (!/^ *#/.test(line)) keyLine = line.split('#', 1)[0] ?? ''
  }
  return 'compact'
}

function findDashIndent(line: string): number | undefined {
  const match = /^( *)- /.exec(line)
  return match?.[1]?.length
}

function getKeyIndent(line: string): number {
  const match = /^( *)[^:]*: *$/.exec(line)
  return match?.[1]?.length ?? Number.NaN
}
