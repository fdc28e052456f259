/** Drift of low risk waits for the digest. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fingerprintOf, NOW, reasons, unit } from '../../../../test/fakes/limited-units.ts'
import { DEFAULT_LIMITS, type Limits } from '../../../policy/effective-policy.ts'
import { getDriftId } from '../../../proposal/text/dashboard-ticks.ts'
import { formatUnitKey } from '../../observation/planned-unit.ts'
import { planHolds } from './plan-limits.ts'

test('low-risk drift waits for the first digest after it was first seen', () => {
  // LONG_AGO is a Saturday.
  assert.deepEqual(reasons([unit({ name: 'a', risk: 'low' })]), {
    a: 'digest 2026-11-23T08:00:00Z',
  })
  assert.deepEqual(
    reasons([unit({ name: 'a', risk: 'low', began: '2026-11-16T08:00:00Z' })]),
    { a: 'digest 2026-11-23T08:00:00Z' },
    'on the hour',
  )
  assert.deepEqual(
    reasons([unit({ name: 'a', risk: 'low', began: '2026-11-16T07:59:59Z' })]),
    { a: 'open' },
    'the digest has passed',
  )
  const holds = (limits: Partial<Limits>, name = 'a') =>
    reasons([unit({ name, risk: 'low' })], { limits: { ...DEFAULT_LIMITS, ...limits } })
  assert.deepEqual(holds({ digest: undefined }), { a: 'open' })
  assert.deepEqual(holds({ digest: '0 9 * * *' }), { a: 'open' })
  assert.deepEqual(holds({ digest: '30 10 * * *' }), { a: 'digest 2026-11-21T10:30:00Z' })
})

test('the digest holds nothing of higher risk, ticked, recorded or already open', () => {
  const low = { name: 'a', risk: 'low' as const }
  for (const risk of ['medium', 'high', 'critical'] as const)
    assert.deepEqual(reasons([unit({ name: 'a', risk })]), { a: 'open' })
  assert.deepEqual(
    reasons([unit(low)], { requested: new Set([getDriftId(fingerprintOf('a')) ?? '']) }),
    {
      a: 'open',
    },
  )
  assert.deepEqual(reasons([unit({ ...low, recorded: true })]), { a: 'open' })
  assert.deepEqual(reasons([unit({ ...low, open: true })]), { a: 'open' })
  const mixed = [unit({ ...low, branch: 'x' }), unit({ name: 'b', branch: 'x' })]
  assert.deepEqual(
    reasons(mixed),
    { a: 'open', b: 'open' },
    'the worst of what shares a proposal counts',
  )
})

test('a digest hold has a reason and an end, and takes no slot', () => {
  const units = [unit({ name: 'a', risk: 'low' }), unit({ name: 'b' }), unit({ name: 'c' })]
  assert.deepEqual(reasons(units), { a: 'digest 2026-11-23T08:00:00Z', b: 'open', c: 'open' })
  const question = {
    limits: DEFAULT_LIMITS,
    proposals: { open: new Set<string>(), openings: [] },
    storm: undefined,
    requested: new Set<string>(),
  }
  assert.match(
    planHolds({ ...question, units, now: NOW }).get(formatUnitKey('prod', 'a'))?.why ?? '',
    /low risk and wait for the digest$/,
  )
})
