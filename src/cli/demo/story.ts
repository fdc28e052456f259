/** Fixed, so that every run gives the same commits. */
export const CLUSTER = 'prod'
/** As in `kpt live apply --server-side --field-manager=kpt`. */
export const SYNCER = 'kpt'
export const PERSON = { name: 'Ada Lovelace', email: 'ada@shop.example' } as const

/** Demo only: fingerprints are equal on every machine. */
export const DEMO_KEY = 'the-key-of-the-backporch-demo-and-of-nothing-else'

/** RFC 3339 UTC; see test/demo/normalise-recording.ts. */
export const TIMES = {
  committed: '2026-08-20T09:00:00Z',
  applied: '2026-08-20T09:02:00Z',
  drifted: '2026-08-21T14:03:00Z',
  adopted: '2026-08-21T14:10:00Z',
  approved: '2026-08-21T14:25:00Z',
  settled: '2026-08-21T14:31:00Z',
} as const

export const DECISIONS = {
  adopt: ['adopt', 'apps/web', '4,5,6', '-m', 'campaign week: they stay'],
  adoptRequest: ['adopt', 'apps/orders', '-m', 'the queue is longer at noon'],
  release: ['release', 'apps/web', 'secret/web-session', '-m', 'the session key is set by hand'],
} as const
