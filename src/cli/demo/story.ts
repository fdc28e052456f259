/** Names, times and the key of the demo, fixed so that every run gives the same commits. */
export const CLUSTER = 'prod'
/** Field manager of the syncer: `kpt live apply --server-side --field-manager=kpt` in somebody's pipeline. */
export const SYNCER = 'kpt'
export const PERSON = { name: 'Ada Lovelace', email: 'ada@shop.example' } as const

/** Only this demo's: it makes fingerprints the same on every machine, and hides nothing worth hiding. */
export const DEMO_KEY = 'the-key-of-the-backporch-demo-and-of-nothing-else'

/** RFC 3339 UTC. The recordings were moved to these times; see test/demo/normalise-recording.ts. */
export const TIMES = {
  committed: '2026-08-20T09:00:00Z',
  applied: '2026-08-20T09:02:00Z',
  /** When the drifted cluster was observed. */
  drifted: '2026-08-21T14:03:00Z',
  adopted: '2026-08-21T14:10:00Z',
  approved: '2026-08-21T14:25:00Z',
  /** When the cluster was observed after the syncer had applied the merged commit. */
  settled: '2026-08-21T14:31:00Z',
} as const

/** The decisions of the story: numbers are those that `diff` prints. */
export const DECISIONS = {
  adopt: ['adopt', 'apps/web', '4,5,6', '-m', 'campaign week: they stay'],
  release: ['release', 'apps/web', 'secret/web-session', '-m', 'the session key is set by hand'],
} as const
