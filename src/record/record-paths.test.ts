import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePathSegments } from '@backporch/git-store/objects'
import { HOSTILE_TEXTS } from '../../test/fakes/record-samples.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import {
  formatClosedPath,
  formatLedgerObservationPath,
  formatPathSegment,
  recordPath,
} from './record-paths.ts'

const SEGMENTS: readonly (readonly [name: string, segment: RegExp])[] = [
  ['prod', /^prod$/],
  ['prod.eu_1', /^prod\.eu_1$/],
  ['arn:aws:eks:eu-1:1:cluster/prod', /^arn-aws-eks-eu-1-1-cluster-prod-[0-9a-f]{8}$/],
  ['Prod', /^prod-[0-9a-f]{8}$/],
  ['..', /^[0-9a-f]{8}$/],
  ['.git', /^git-[0-9a-f]{8}$/],
  ['a..b', /^a-b-[0-9a-f]{8}$/],
  ['a.lock', /^a-lock-[0-9a-f]{8}$/],
  ['', /^[0-9a-f]{8}$/],
  ['日本', /^[0-9a-f]{8}$/],
  ['x'.repeat(300), /^x{48}-[0-9a-f]{8}$/],
]

for (const [name, segment] of SEGMENTS)
  test(`formats the folder name of ${JSON.stringify(name).slice(0, 30)}`, () =>
    assert.match(formatPathSegment(name), segment))

const names = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS, 'a/b', 'a-b', 'A-B', 'con'),
  fc.string(),
  fc.string({ unit: 'binary' }),
)

test('any name becomes one valid path segment', () => {
  fc.assert(
    fc.property(names, (name) => {
      assert.match(formatPathSegment(name), /^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$/)
      assert.equal(parsePathSegments(formatLedgerObservationPath(name)).length, 3)
    }),
  )
})

test('different names have different folders', () => {
  fc.assert(
    fc.property(names, names, (left, right) =>
      assert.equal(formatPathSegment(left) === formatPathSegment(right), left === right),
    ),
  )
})

test('dates come from the observation', () => {
  assert.equal(
    recordPath('prod', 'apps--web', '2026-11-21T10:00:00Z', '1a2b3c4d'),
    '.drift/records/prod/apps--web/20261121-1a2b3c4d.record',
  )
  assert.equal(
    formatClosedPath('2026-11-21T10:00:00Z', '1a2b3c4d-2'),
    'closed/2026/11/1a2b3c4d-2.yaml',
  )
})
