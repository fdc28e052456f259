import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { changeOf } from '../../test/fakes/record-samples.ts'
import { DEFAULT_LIMITS, DEFAULT_POLICY, type EffectivePolicy } from '../policy/effective-policy.ts'
import { driftId } from '../proposal/dashboard-ticks.ts'
import type { Change } from '../record/schema.ts'
import { type LimitsQuestion, planHolds } from './plan-limits.ts'
import { type PlannedUnit, unitKey } from './planned-unit.ts'

const NOW = '2026-11-21T10:00:00Z'
const LONG_AGO = '2026-11-21T08:00:00Z'

interface Sample {
  readonly name: string
  readonly risk?: Change['risk']
  readonly began?: string
  /** Time of the manager; none where it is not known. */
  readonly at?: string
  readonly branch?: string
  readonly policy?: Partial<EffectivePolicy>
  readonly recorded?: boolean
  readonly lifecycle?: 'Proposed' | 'Draft' | ''
  readonly open?: boolean
}

/** A unit as far as it matters here. */
function unit({ name, risk = 'low', began = LONG_AGO, at = LONG_AGO, ...more }: Sample): PlannedUnit {
  const { branch = `proposed/${name}/drift-1`, policy, recorded = false, lifecycle = 'Proposed', open = false } = more
  const actor = { ...changeOf().actor, at, confidence: at === '' ? ('none' as const) : ('field-manager' as const) }
  const report = {
    spec: { fingerprint: fingerprintOf(name), changes: [changeOf({ risk, actor, fingerprint: name })] },
    status: { lifecycle },
  }
  return {
    observation: {
      unit: { cluster: 'prod', packagePath: name },
      cluster: { observedAt: NOW, recorded },
      git: { refs: new Map(open ? [[`refs/heads/${branch}`, 'x']] : []), ledger: { report: undefined } },
      policy: { ...DEFAULT_POLICY, ...policy },
    } as never,
    plan: { report, record: { spec: { began } }, branch } as never,
  }
}

function fingerprintOf(name: string): string {
  return `sha256:${Buffer.from(name.padEnd(32, '.')).toString('hex').slice(0, 64)}`
}

function reasons(units: readonly PlannedUnit[], more: Partial<LimitsQuestion> = {}): Record<string, string> {
  const holds = planHolds({
    units,
    limits: DEFAULT_LIMITS,
    proposals: { open: new Set(), openings: [] },
    storm: false,
    asked: new Set(),
    now: NOW,
    ...more,
  })
  return Object.fromEntries(
    units.map(({ observation: { unit: own } }) => {
      const hold = holds.get(unitKey(own.cluster, own.packagePath))
      return [own.packagePath, hold === undefined ? 'open' : [hold.reason, hold.until].filter((part) => part !== undefined).join(' ')]
    }),
  )
}

function openings(...times: readonly string[]) {
  return { open: new Set(times.map((_at, index) => `refs/heads/proposed/x${index}/drift-1`)), openings: times }
}

test('what changed less than the minimum age ago waits until it has not', () => {
  assert.deepEqual(reasons([unit({ name: 'a', at: '2026-11-21T09:59:00Z', began: NOW })]), { a: 'min-age 2026-11-21T10:01:00Z' })
  assert.deepEqual(reasons([unit({ name: 'a', at: '2026-11-21T09:58:00Z', began: NOW })]), { a: 'open' }, 'by the time of who wrote it')
  assert.deepEqual(reasons([unit({ name: 'a', at: '', began: NOW })]), { a: 'min-age 2026-11-21T10:02:00Z' }, 'first seen now')
  assert.deepEqual(
    reasons([unit({ name: 'a', at: '2027-01-01T00:00:00Z', began: NOW })]),
    { a: 'min-age 2026-11-21T10:02:00Z' },
    'a clock ahead',
  )
})

test('what never rests is shown after five times the age', () => {
  assert.deepEqual(reasons([unit({ name: 'a', at: '2026-11-21T09:59:59Z', began: '2026-11-21T09:51:00Z' })]), {
    a: 'min-age 2026-11-21T10:01:00Z',
  })
  assert.deepEqual(reasons([unit({ name: 'a', at: '2026-11-21T09:59:59Z', began: '2026-11-21T09:50:00Z' })]), { a: 'open' })
})

test('a window holds until it ends, but not the risks that it excepts', () => {
  const policy = {
    windows: [
      {
        name: 'freeze',
        kind: 'hold' as const,
        where: 'p:1',
        schedule: '0 9 * * *',
        duration: 7_200,
        timezone: 'UTC',
        except: ['high' as const],
      },
      { name: 'take over', kind: 'adopt' as const, where: 'p:2', schedule: '0 9 * * *', duration: 72_000, timezone: 'UTC', except: [] },
    ],
  }
  const units = (['critical', 'high', 'medium'] as const).map((risk) => unit({ name: risk, risk, policy }))
  assert.deepEqual(reasons(units), { critical: 'open', high: 'open', medium: 'window 2026-11-21T11:00:00Z' })
})

test('slots of the hour go by risk, then age, then name; the next ones know when', () => {
  const units = [
    unit({ name: 'd' }),
    unit({ name: 'c', began: '2026-11-21T07:00:00Z' }),
    unit({ name: 'b', risk: 'high' }),
    unit({ name: 'a' }),
  ]
  const proposals = openings('2026-11-21T09:30:00Z')
  assert.deepEqual(reasons(units, { proposals }), {
    b: 'open',
    c: 'hourly-limit 2026-11-21T10:30:00Z',
    a: 'hourly-limit 2026-11-21T11:00:00Z',
    d: 'hourly-limit',
  })
})

test('no more than the limit are open at once', () => {
  const limits = { ...DEFAULT_LIMITS, prHourlyLimit: 0, prConcurrentLimit: 3 }
  const units = ['a', 'b'].map((name) => unit({ name }))
  assert.deepEqual(reasons(units, { limits, proposals: { ...openings('', ''), openings: [] } }), { a: 'open', b: 'concurrent-limit' })
})

test('a storm holds everything but critical drift, and nothing is free of it because it is old', () => {
  const units = [unit({ name: 'a', risk: 'critical' }), unit({ name: 'b', risk: 'high' })]
  assert.deepEqual(reasons(units, { storm: true }), { a: 'open', b: 'storm' })
})

test('critical drift passes every limit and takes a slot', () => {
  const units = [...['a', 'b', 'c'].map((name) => unit({ name, risk: 'critical', at: NOW, began: NOW })), unit({ name: 'd', risk: 'high' })]
  assert.deepEqual(reasons(units), { a: 'open', b: 'open', c: 'open', d: 'hourly-limit 2026-11-21T11:00:00Z' })
})

test('what somebody ticked is opened now, whatever holds it', () => {
  const units = [unit({ name: 'a', at: NOW, began: NOW }), unit({ name: 'b', at: NOW, began: NOW })]
  assert.deepEqual(reasons(units, { storm: true, asked: new Set([driftId(fingerprintOf('b'))]) }), { a: 'storm', b: 'open' })
})

test('what is open already, recorded only or not drift is never held, and takes no slot', () => {
  const units = [
    unit({ name: 'a', open: true }),
    unit({ name: 'b', lifecycle: 'Draft' }),
    unit({ name: 'c', lifecycle: '' }),
    unit({ name: 'd' }),
    unit({ name: 'e' }),
  ]
  assert.deepEqual(Object.values(reasons(units, { storm: false })), ['open', 'open', 'open', 'open', 'open'])
})

test('clusters that share a proposal take one slot, and are held together', () => {
  const shared = ['a', 'b', 'c', 'd'].map((name) => unit({ name, branch: 'proposed/x/drift-1' }))
  const units = [...shared, unit({ name: 'e' }), unit({ name: 'f' })]
  assert.deepEqual(reasons(units), { a: 'open', b: 'open', c: 'open', d: 'open', e: 'open', f: 'hourly-limit 2026-11-21T11:00:00Z' })
  const young = [unit({ name: 'a', branch: 'x' }), unit({ name: 'b', branch: 'x', at: NOW, began: LONG_AGO })]
  assert.deepEqual(reasons(young), { a: 'open', b: 'open' }, 'it never rests, and was seen long ago')
  const both = [unit({ name: 'a', branch: 'x', began: NOW }), unit({ name: 'b', branch: 'x', at: NOW, began: NOW })]
  assert.deepEqual(reasons(both), { a: 'min-age 2026-11-21T10:02:00Z', b: 'min-age 2026-11-21T10:02:00Z' })
})

test('in a recording no time passes: only what is open at once counts', () => {
  const units = ['a', 'b', 'c'].map((name) => unit({ name, at: NOW, began: NOW, recorded: true }))
  assert.deepEqual(reasons(units, { storm: true }), { a: 'open', b: 'open', c: 'open' })
  const limits = { ...DEFAULT_LIMITS, prConcurrentLimit: 1 }
  assert.deepEqual(reasons(units, { limits }), { a: 'open', b: 'concurrent-limit', c: 'concurrent-limit' })
})

const sample = fc.record({
  name: fc.string({ unit: fc.constantFrom(...'abcdefghij'), minLength: 1, maxLength: 3 }),
  risk: fc.constantFrom('critical' as const, 'high' as const, 'medium' as const, 'low' as const),
  began: fc.constantFrom(LONG_AGO, '2026-11-21T07:00:00Z', '2026-11-21T09:00:00Z'),
})
const samples = fc.uniqueArray(sample, { selector: ({ name }) => name, maxLength: 12 })

test('slots are fair and the same in every order: nothing waits behind what is less urgent', () => {
  fc.assert(
    fc.property(
      samples,
      fc.nat(5),
      fc.nat(8),
      fc.array(fc.constant('2026-11-21T09:30:00Z'), { maxLength: 4 }),
      (all, hourly, concurrent, before) => {
        const limits = { ...DEFAULT_LIMITS, prHourlyLimit: hourly, prConcurrentLimit: concurrent }
        const question = { limits, proposals: openings(...before) }
        const answer = reasons(all.map(unit), question)
        const other = reasons(all.toReversed().map(unit), question)
        assert.deepEqual(
          other,
          Object.fromEntries(
            Object.entries(answer)
              .sort()
              .map(([name]) => [name, answer[name]]),
          ),
        )
        const ranks = ['critical', 'high', 'medium', 'low']
        const rank = ({ risk, began, name }: (typeof all)[number]): string => `${ranks.indexOf(risk)} ${began} ${name}`
        const opened = all.filter(({ name }) => answer[name] === 'open')
        const held = all.filter(({ name }) => answer[name] !== 'open')
        assert.ok(held.every(({ risk }) => risk !== 'critical'))
        for (const waits of held) for (const open of opened) assert.ok(rank(open) < rank(waits), `${rank(open)} before ${rank(waits)}`)
        const normal = opened.filter(({ risk }) => risk !== 'critical').length
        const critical = opened.length - normal
        const slots = Math.min(
          hourly === 0 ? Number.POSITIVE_INFINITY : Math.max(0, hourly - before.length - critical),
          concurrent === 0 ? Number.POSITIVE_INFINITY : Math.max(0, concurrent - before.length - critical),
        )
        assert.equal(normal, Math.min(slots, all.length - critical), 'every slot is taken, and none twice')
      },
    ),
  )
})
