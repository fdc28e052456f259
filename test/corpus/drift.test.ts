/** The drift corpus, from its recordings: what ours says of each case is the truth. No server is needed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCases } from '../drift-corpus/case.ts'
import { brokenProofs } from '../drift-corpus/check-proof.ts'
import { mistakes, observeCase, observedIn } from '../drift-corpus/observe-case.ts'
import { readRecordingOf } from '../drift-corpus/recording.ts'
import { RecordedServer, ReplayCluster } from '../drift-corpus/replay-cluster.ts'

const server = new RecordedServer()
const cases = readCases()

for (const one of cases) {
  test(`${one.name}: ${one.about}`, async () => {
    const recording = readRecordingOf(one)
    const cluster = new ReplayCluster(server, recording, one.name)
    const observation = await observeCase(one, recording.live, cluster)
    const wrong = mistakes(observedIn(observation), one.truth)
    if (one.knownGap === undefined) assert.deepEqual(wrong, [])
    else assert.notDeepEqual(wrong, [], `it is right now: take the known-gap out of case.yaml (${one.knownGap})`)
    assert.deepEqual(await brokenProofs(observation, recording, cluster, server), [], 'what ownership proves, an apply would change')
  })
}

test('there are at least 120 cases, and at least 40 without any result', () => {
  assert.ok(cases.length >= 120)
  assert.ok(cases.filter(({ truth }) => truth.drift.length === 0 && Object.keys(truth.unproven).length === 0).length >= 40)
})

test('every way to apply a package has a case', () => {
  const tools = new Set(
    cases.flatMap(({ applied, steps }) => [applied.tool, ...steps.flatMap((step) => (step.do === 'apply' ? [step.applied.tool] : []))]),
  )
  assert.deepEqual([...tools].sort(), [
    'argo-client-side',
    'argo-server-side',
    'flux',
    'helm3',
    'helm4',
    'helm4-client-side',
    'kpt-client-side',
    'kpt-server-side',
    'kubectl-client-side',
    'kubectl-server-side',
  ])
})
