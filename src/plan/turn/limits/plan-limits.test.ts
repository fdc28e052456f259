import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  fingerprintOf,
  LONG_AGO,
  NOW,
  openings,
  reasons,
  unit,
} from '../../../../test/fakes/limited-units.ts'
import * as fc from '../../../../test/seeds/fast-check.ts'
import { DEFAULT_LIMITS } from '../../../policy/effective-policy.ts'
import { getDriftId } from '../../../proposal/text/dashboard-ticks.ts'
import { formatUnitKey } from '../../observation/planned-unit.ts'
import { planHolds } from './plan-limits.ts'

/** Of packages. */
const FLEET = { fleet: true, clusters: new Set<string>() }

test('drift waits until its last change has the minimum age', () => {
  assert.deepEqual(reasons([unit({ name: 'a', at: '2026-11-21T09:59:00Z', began: NOW })]), {
    a: 'min-age 2026-11-21T10:01:00Z',
  })
  assert.deepEqual(
    reasons([unit({ name: 'a', at: '2026-11-21T09:58:00Z', began: NOW })]),
    { a: 'open' },
    'by the time of who wrote it',
  )
  assert.deepEqual(
    reasons([unit({ name: 'a', at: '', began: NOW })]),
    { a: 'min-age 2026-11-21T10:02:00Z' },
    'first seen now',
  )
  assert.deepEqual(
    reasons([unit({ name: 'a', at: '2027-01-01T00:00:00Z', began: NOW })]),
    { a: 'min-age 2026-11-21T10:02:00Z' },
    'a clock ahead',
  )
})

test('drift that never settles is shown after five times the minimum age', () => {
  assert.deepEqual(
    reasons([unit({ name: 'a', at: '2026-11-21T09:59:59Z', began: '2026-11-21T09:51:00Z' })]),
    {
      a: 'min-age 2026-11-21T10:01:00Z',
    },
  )
  assert.deepEqual(
    reasons([unit({ name: 'a', at: '2026-11-21T09:59:59Z', began: '2026-11-21T09:50:00Z' })]),
    { a: 'open' },
  )
})

test('a window holds drift until it ends, except the risks that it lists', () => {
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
      {
        name: 'take over',
        kind: 'adopt' as const,
        where: 'p:2',
        schedule: '0 9 * * *',
        duration: 72_000,
        timezone: 'UTC',
        except: [],
      },
    ],
  }
  const units = (['critical', 'high', 'medium'] as const).map((risk) =>
    unit({ name: risk, risk, policy }),
  )
  assert.deepEqual(reasons(units), {
    critical: 'open',
    high: 'open',
    medium: 'window 2026-11-21T11:00:00Z',
  })
})

test('hourly slots go by risk, then age, then name, and held units know their next time', () => {
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

test('the number of open proposals never exceeds the limit', () => {
  const limits = { ...DEFAULT_LIMITS, prHourlyLimit: 0, prConcurrentLimit: 3 }
  const units = ['a', 'b'].map((name) => unit({ name }))
  assert.deepEqual(reasons(units, { limits, proposals: { ...openings('', ''), openings: [] } }), {
    a: 'open',
    b: 'concurrent-limit',
  })
})

test('a storm holds everything except critical drift, whatever its age', () => {
  const units = [unit({ name: 'a', risk: 'critical' }), unit({ name: 'b', risk: 'high' })]
  assert.deepEqual(reasons(units, { storm: FLEET }), { a: 'open', b: 'storm' })
})

test('critical drift passes every limit and takes a slot', () => {
  const units = [
    ...['a', 'b', 'c'].map((name) => unit({ name, risk: 'critical', at: NOW, began: NOW })),
    unit({ name: 'd', risk: 'high' }),
  ]
  assert.deepEqual(reasons(units), {
    a: 'open',
    b: 'open',
    c: 'open',
    d: 'hourly-limit 2026-11-21T11:00:00Z',
  })
})

test('a ticked unit opens at once, whatever holds it', () => {
  const units = [unit({ name: 'a', at: NOW, began: NOW }), unit({ name: 'b', at: NOW, began: NOW })]
  assert.deepEqual(
    reasons(units, { storm: FLEET, requested: new Set([getDriftId(fingerprintOf('b')) ?? '']) }),
    { a: 'storm', b: 'open' },
  )
})

test('open, record-only and in-sync units are never held and take no slot', () => {
  const units = [
    unit({ name: 'a', open: true }),
    unit({ name: 'b', lifecycle: 'Draft' }),
    unit({ name: 'c', lifecycle: '' }),
    unit({ name: 'd' }),
    unit({ name: 'e' }),
  ]
  assert.deepEqual(Object.values(reasons(units)), ['open', 'open', 'open', 'open', 'open'])
})

test('clusters that share a proposal take one slot, and are held together', () => {
  const shared = ['a', 'b', 'c', 'd'].map((name) => unit({ name, branch: 'proposed/x/drift-1' }))
  const units = [...shared, unit({ name: 'e' }), unit({ name: 'f' })]
  assert.deepEqual(reasons(units), {
    a: 'open',
    b: 'open',
    c: 'open',
    d: 'open',
    e: 'open',
    f: 'hourly-limit 2026-11-21T11:00:00Z',
  })
  const young = [
    unit({ name: 'a', branch: 'x' }),
    unit({ name: 'b', branch: 'x', at: NOW, began: LONG_AGO }),
  ]
  assert.deepEqual(
    reasons(young),
    { a: 'open', b: 'open' },
    'it never rests, and was seen long ago',
  )
  const both = [
    unit({ name: 'a', branch: 'x', began: NOW }),
    unit({ name: 'b', branch: 'x', at: NOW, began: NOW }),
  ]
  assert.deepEqual(reasons(both), {
    a: 'min-age 2026-11-21T10:02:00Z',
    b: 'min-age 2026-11-21T10:02:00Z',
  })
})

test('in a recording no time passes, so that only the concurrent limit counts', () => {
  const units = ['a', 'b', 'c'].map((name) => unit({ name, at: NOW, began: NOW, recorded: true }))
  assert.deepEqual(reasons(units, { storm: FLEET }), { a: 'open', b: 'open', c: 'open' })
  const limits = { ...DEFAULT_LIMITS, prConcurrentLimit: 1 }
  assert.deepEqual(reasons(units, { limits }), {
    a: 'open',
    b: 'concurrent-limit',
    c: 'concurrent-limit',
  })
})

test("a cluster's storm holds only proposals within storming clusters, and names them", () => {
  const storm = { fleet: false, clusters: new Set(['prod', 'prod-2']) }
  const units = [
    unit({ name: 'a' }),
    unit({ name: 'b', cluster: 'dev' }),
    unit({ name: 'c', branch: 'x' }),
    unit({ name: 'd', branch: 'x', cluster: 'dev' }),
    unit({ name: 'e', branch: 'y' }),
    unit({ name: 'f', branch: 'y', cluster: 'prod-2' }),
    unit({ name: 'g', risk: 'critical' }),
  ]
  const limits = { ...DEFAULT_LIMITS, prHourlyLimit: 0 }
  assert.deepEqual(reasons(units, { storm, limits }), {
    a: 'storm',
    b: 'open',
    c: 'open',
    d: 'open',
    e: 'storm',
    f: 'storm',
    g: 'open',
  })
  const question = {
    units,
    limits,
    proposals: { open: new Set<string>(), openings: [] },
    storm,
    requested: new Set<string>(),
    now: NOW,
  }
  assert.equal(
    planHolds(question).get(formatUnitKey('prod', 'a'))?.why,
    'more than 50 objects and more than 20 % of all objects of the cluster prod began to differ within an hour',
  )
})

/** Objects that differ, or do not, with labels. */
function object(name: string, labels: Record<string, string>, kind = 'ConfigMap', differs = true) {
  const id = { group: '', kind, namespace: kind === 'Namespace' ? '' : 'shop', name }
  return { id, items: differs ? [{ id }] : [], state: 'drifted', live: { metadata: { labels } } }
}

test('a label window holds while a differing object or its Namespace has every label', () => {
  const labels = new Map([
    ['incident', 'open'],
    ['team', 'shop'],
  ])
  const policy = {
    windows: [
      {
        name: 'break-glass',
        kind: 'hold' as const,
        where: 'p:1',
        labels,
        except: ['high' as const],
      },
    ],
  }
  const both = { incident: 'open', team: 'shop' }
  const sample = (verdicts: readonly unknown[], risk: 'medium' | 'high' = 'medium') =>
    reasons([unit({ name: 'a', risk, policy, verdicts })])
  assert.deepEqual(sample([object('x', both)]), { a: 'window' }, 'and nobody knows its end')
  assert.deepEqual(sample([object('x', both)], 'high'), { a: 'open' })
  assert.deepEqual(sample([object('x', { incident: 'open' })]), { a: 'open' }, 'one of two labels')
  assert.deepEqual(sample([object('x', { ...both, incident: 'over' })]), { a: 'open' })
  assert.deepEqual(
    sample([object('y', {}), object('x', both, 'ConfigMap', false)]),
    { a: 'open' },
    'the object that has it does not differ',
  )
  assert.deepEqual(sample([object('y', {}), object('shop', both, 'Namespace', false)]), {
    a: 'window',
  })
  assert.deepEqual(sample([object('y', {}), object('other', both, 'Namespace', false)]), {
    a: 'open',
  })
  assert.deepEqual(sample([]), { a: 'open' })
})

const sample = fc.record({
  name: fc.string({ unit: fc.constantFrom(...'abcdefghij'), minLength: 1, maxLength: 3 }),
  risk: fc.constantFrom('critical' as const, 'high' as const, 'medium' as const, 'low' as const),
  began: fc.constantFrom(LONG_AGO, '2026-11-21T07:00:00Z', '2026-11-21T09:00:00Z'),
})
const samples = fc.uniqueArray(sample, { selector: ({ name }) => name, maxLength: 12 })

test('slots are fair in any order: nothing waits behind less urgent drift', () => {
  fc.assert(
    fc.property(
      samples,
      fc.nat(5),
      fc.nat(8),
      fc.array(fc.constant('2026-11-21T09:30:00Z'), { maxLength: 4 }),
      (all, hourly, concurrent, before) => {
        const limits = {
          ...DEFAULT_LIMITS,
          prHourlyLimit: hourly,
          prConcurrentLimit: concurrent,
          digest: undefined,
        }
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
        const rank = ({ risk, began, name }: (typeof all)[number]): string =>
          `${ranks.indexOf(risk)} ${began} ${name}`
        const opened = all.filter(({ name }) => answer[name] === 'open')
        const held = all.filter(({ name }) => answer[name] !== 'open')
        assert.ok(held.every(({ risk }) => risk !== 'critical'))
        for (const waits of held)
          for (const open of opened)
            assert.ok(rank(open) < rank(waits), `${rank(open)} before ${rank(waits)}`)
        const normal = opened.filter(({ risk }) => risk !== 'critical').length
        const critical = opened.length - normal
        const slots = Math.min(
          hourly === 0 ? Number.POSITIVE_INFINITY : Math.max(0, hourly - before.length - critical),
          concurrent === 0
            ? Number.POSITIVE_INFINITY
            : Math.max(0, concurrent - before.length - critical),
        )
        assert.equal(
          normal,
          Math.min(slots, all.length - critical),
          'every slot is taken, and none twice',
        )
      },
    ),
  )
})
