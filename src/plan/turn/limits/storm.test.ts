import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GITEA } from '../../../../test/fakes/dialects.ts'
import { changeOf } from '../../../../test/fakes/record-samples.ts'
import { DEFAULT_LIMITS, type Limits } from '../../../policy/effective-policy.ts'
import { formatStormText } from '../../../proposal/text/storm-text.ts'
import type { DriftReport } from '../../../record/documents/drift-report.ts'
import { buildStormSubject, findStorm, getCurrentBranch } from './storm.ts'

interface Sample {
  readonly cluster?: string
  readonly name: string
  /** Objects that differ, of the objects that git declares. */
  readonly differ: number
  readonly of: number
  readonly branch?: string
}

function report({ cluster = 'prod', name, differ, of }: Sample): DriftReport {
  const ref = (index: number) => ({
    group: '',
    kind: 'ConfigMap',
    namespace: 'shop',
    name: `${name}-${index}`,
  })
  // Two fields of each object.
  const changes = Array.from({ length: differ * 2 }, (_each, index) =>
    changeOf({ ref: ref(index % Math.max(1, differ)) }),
  )
  return {
    spec: { unit: { cluster, package: name }, observed: { objects: of }, changes },
    status: { state: differ === 0 ? 'InSync' : 'Drifted', since: '2026-11-21T10:00:00Z' },
  } as unknown as DriftReport
}

/** Clusters of the storm; `fleet` where it is one of packages. */
function storm(samples: readonly Sample[], limits: Partial<Limits> = {}): readonly string[] {
  const all = samples.map((sample) => ({ ...sample, report: report(sample) }))
  const drifting = all.filter(({ differ }) => differ > 0).map((one) => one.report)
  const branches = new Map(all.map((one) => [one.report, one.branch ?? '']))
  const found = findStorm(
    drifting,
    [...branches.keys()],
    { ...DEFAULT_LIMITS, ...limits },
    (one) => branches.get(one) ?? '',
  )
  return found === undefined ? [] : [...(found.fleet ? ['fleet'] : []), ...found.clusters]
}

test('a storm is over 50 objects and over 20 % of a cluster, in several packages', () => {
  assert.deepEqual(
    storm([
      { name: 'a', differ: 30, of: 100 },
      { name: 'b', differ: 21, of: 100 },
    ]),
    ['prod'],
  )
  assert.deepEqual(
    storm([
      { name: 'a', differ: 30, of: 100 },
      { name: 'b', differ: 20, of: 100 },
    ]),
    [],
    'fifty are none',
  )
  const share = [
    { name: 'a', differ: 60, of: 200 },
    { name: 'b', differ: 40, of: 200 },
  ]
  assert.deepEqual(
    storm([...share, { name: 'c', differ: 0, of: 100 }]),
    [],
    'a fifth is none, with what does not differ',
  )
  assert.deepEqual(storm([...share, { name: 'c', differ: 0, of: 99 }]), ['prod'])
})

test('storms are counted per cluster', () => {
  const half = (cluster: string) =>
    ['a', 'b'].map((name) => ({ cluster, name, differ: 20, of: 20 }))
  assert.deepEqual(storm([...half('one'), ...half('two')]), [])
  assert.deepEqual(
    storm([...half('one'), ...half('two'), { cluster: 'two', name: 'c', differ: 20, of: 20 }]),
    ['two'],
  )
})

test('drift of one proposal is one cause and no storm, in one package or many clusters', () => {
  assert.deepEqual(storm([{ name: 'a', differ: 250, of: 250 }]), [])
  const forty = Array.from({ length: 40 }, (_each, index) => ({
    cluster: `edge-${index}`,
    name: 'a',
    differ: 250,
    of: 250,
    branch: 'proposed/a/drift-1',
  }))
  assert.deepEqual(storm(forty), [], '10,000 objects')
  assert.deepEqual(
    storm([
      ...forty,
      { cluster: 'edge-1', name: 'b', differ: 3, of: 9 },
      { cluster: 'edge-1', name: 'c', differ: 3, of: 9 },
    ]),
    [],
  )
  const few = ['b', 'c'].map((name) => ({ cluster: 'edge-0', name, differ: 3, of: 9 }))
  assert.deepEqual(
    storm([...forty, ...few]),
    [],
    'not of the cluster that happens to be the first one either',
  )
  const others = ['b', 'c'].map((name) => ({ cluster: 'edge-1', name, differ: 40, of: 40 }))
  assert.deepEqual(storm([...forty, ...others]), ['edge-1'], 'what is beside it counts')
})

test('a zero limit disables the object storm and not the package storm', () => {
  const two = [
    { name: 'a', differ: 90, of: 90 },
    { name: 'b', differ: 90, of: 90 },
  ]
  assert.deepEqual(storm(two, { stormObjects: 0 }), [])
  assert.deepEqual(storm(two, { stormShare: 0 }), [])
  assert.deepEqual(storm(two, { stormObjects: 1, stormShare: 1 }), ['prod'])
  assert.deepEqual(storm(two, { stormThreshold: 1, stormShare: 0 }), ['fleet'])
  assert.deepEqual(storm([]), [])
})

test('the current branch of a unit comes from the ledger alone', () => {
  const at = (status: object) =>
    getCurrentBranch({ spec: { unit: { package: 'apps/web' } }, status } as unknown as DriftReport)
  assert.equal(
    at({ lifecycle: 'Proposed', episode: '1', branch: 'proposed/apps/web/drift-2' }),
    'proposed/apps/web/drift-2',
  )
  assert.equal(at({ lifecycle: 'Proposed', episode: '2' }), 'proposed/apps/web/drift-2')
  assert.equal(at({ lifecycle: 'Draft', episode: '3' }), '')
})

test('the storm issue counts the objects of storming clusters and names the limit', () => {
  const reports = [
    ...['a', 'b'].map((name) => report({ name, differ: 30, of: 50 })),
    report({ cluster: 'dev', name: 'a', differ: 1, of: 50 }),
  ]
  const subject = buildStormSubject(
    reports,
    { fleet: false, clusters: new Set(['prod']) },
    DEFAULT_LIMITS,
    {
      nameOf: ({ spec }) => spec.unit.package,
      urlOf: () => '',
    },
  )
  const { title, body } = formatStormText({ ...subject, dialect: GITEA, version: '0.0.0' })
  assert.match(title, /^Drift storm: 60 objects of 2 packages since /)
  assert.match(body, /60 objects of 2 packages in 1 cluster began to differ/)
  assert.match(
    body,
    /more than 50 objects and more than 20 % of all objects of a cluster in an hour/,
  )
  assert.match(body, /No pull requests are opened for them during a storm/)
  assert.doesNotMatch(body, /dev/)
})
