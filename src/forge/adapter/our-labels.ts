const OURS = /^drift(-[a-z]+\/.+)?$/i
const COLOURS = new Map(
  Object.entries({
    'drift-risk/critical': 'b60205',
    'drift-risk/high': 'd93f0b',
    'drift-risk/medium': 'fbca04',
    'drift-risk/low': '0e8a16',
  }),
)
const FAMILIES = new Map<string, LabelStyle>(
  Object.entries({
    drift: { color: '5319e7', description: 'What a cluster runs differs from git' },
    'drift-plan': { color: '1d76db', description: 'What merging does' },
    'drift-risk': { color: 'fbca04', description: 'How risky the difference is' },
    'drift-state': { color: 'c5def5', description: 'What stands in the way' },
  }),
)
const OTHER = { color: 'bfdadc', description: 'Of backporch' }

interface LabelStyle {
  readonly color: string
  readonly description: string
}

export function labelStyle(name: string): LabelStyle {
  const family = FAMILIES.get(name.split('/')[0] ?? '') ?? OTHER
  return { ...family, color: COLOURS.get(name) ?? family.color }
}

/** Keeps people's labels. Forges compare names case-insensitively. */
export function labelChanges(
  there: readonly string[],
  wanted: readonly string[],
): { readonly add: readonly string[]; readonly remove: readonly string[] } {
  const [has, wants] = [there, wanted].map(
    (names) => new Set(names.map((name) => name.toLowerCase())),
  )
  return {
    add: [...new Set(wanted)].filter((name) => has?.has(name.toLowerCase()) !== true),
    remove: there.filter((name) => OURS.test(name) && wants?.has(name.toLowerCase()) !== true),
  }
}
