import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import { changeOf } from '../../../test/fakes/record-samples.ts'
import type { UnitResult } from '../../plan/unit/unit-result.ts'
import { computeExitStatus, getWorstExitStatus } from './exit-status.ts'
import type { ExitOptions } from './options.ts'

function failed(code: FailureCode): UnitResult {
  return {
    state: 'failed',
    cluster: 'prod',
    packagePath: 'a',
    failures: [new Failure({ code, what: 'w', why: 'y', remedy: 'r' })],
  }
}

/** Only what an exit code looks at. */
function planned(
  changes: number,
  incomplete: readonly string[] = [],
  outcome = 'none',
  status: object = {},
): UnitResult {
  const report = { spec: { changes: Array(changes).fill(changeOf()) }, status }
  return {
    state: 'planned',
    plan: { report, outcome },
    observation: { incomplete: incomplete.map((code) => ({ code, why: '' })) },
  } as unknown as UnitResult
}

const DEFAULT: ExitOptions & { readonly silencedCounts: boolean } = {
  partial: undefined,
  exitCode: undefined,
  silencedCounts: true,
}

const ROWS: readonly (readonly [
  name: string,
  units: readonly UnitResult[],
  code: number,
  options?: Partial<typeof DEFAULT>,
])[] = [
  ['no units', [], 0],
  ['a unit in sync', [planned(0)], 0],
  ['drift', [planned(0), planned(2)], 1],
  ['a stuck syncer', [planned(0, [], 'none', { stuckSince: '2026-11-21T10:00:00Z' })], 1],
  ['drift with --no-exit-code', [planned(2)], 0, { exitCode: false }],
  ['silenced drift in diff', [planned(1, [], 'silenced')], 1],
  ['silenced drift in scan', [planned(1, [], 'silenced')], 0, { silencedCounts: false }],
  ['incomplete', [planned(0, ['BP3005'])], 3],
  ['an incomplete observation with drift', [planned(1, ['BP3005'])], 3],
  ['an incomplete observation with --partial ok', [planned(0, ['BP3005'])], 0, { partial: 'ok' }],
  [
    'an incomplete observation with drift and --partial ok',
    [planned(1, ['BP3005'])],
    1,
    { partial: 'ok' },
  ],
  ['forbidden', [planned(1, ['BP3005', 'BP3003'])], 4],
  ['a recording without the answer', [planned(0, ['BP3012'])], 3],
  ['a broken package', [failed('BP1110'), planned(1)], 2],
  [
    'a broken package with all tolerant flags',
    [failed('BP1110')],
    2,
    { partial: 'ok', exitCode: false },
  ],
  ['an unreachable cluster', [failed('BP3001')], 3],
  ['credentials', [failed('BP3002'), planned(1)], 4],
  ['an error together with rejected credentials', [failed('BP3002'), failed('BP9001')], 2],
]

for (const [name, units, code, options] of ROWS) {
  const flags = { ...DEFAULT, ...options }
  test(`exits with ${code} for ${name}`, () =>
    assert.equal(computeExitStatus(units, flags, flags.silencedCounts), code))
}

test('the worst failure wins: error, then missing credentials, then outage', () => {
  const failure = (code: FailureCode) => new Failure({ code, what: 'w', why: 'y', remedy: 'r' })
  assert.equal(getWorstExitStatus([failure('BP3001')]), 3)
  assert.equal(getWorstExitStatus([failure('BP3001'), failure('BP3003')]), 4)
  assert.equal(getWorstExitStatus([failure('BP3001'), failure('BP3003'), failure('BP1110')]), 2)
})
