/** What Backporch compares with a cluster, held against what Argo CD made of the same files and Applications (`recorded/`). */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { whyNoKubectl } from '../kpt/find-kubectl.ts'
import { CASES, GROUPS } from './cases/all-cases.ts'
import { EMPTY, KNOWN_DIFFERENCES, type KnownDifference } from './known-differences.ts'
import { type BuiltSide, ourBuild, sorted } from './our-build.ts'
import { type RecordedCase, readRecording } from './recording.ts'

for (const group of GROUPS) {
  if (group === 'helm') continue
  const { cases } = readRecording(group)
  const known = new Map(
    KNOWN_DIFFERENCES[group]?.flatMap((each) => each.cases.map((name) => [name, each] as const)),
  )

  test(`every known difference of ${group} belongs to a case`, () => {
    for (const name of known.keys()) assert.ok(name in CASES[group], name)
  })

  describe(`builds as Argo CD does (${group})`, {
    skip: whyNoKubectl(),
    concurrency: 2,
  }, () => {
    for (const [name, each] of Object.entries(CASES[group]))
      test(name, async () => {
        const recorded = cases[name]
        assert.ok(recorded !== undefined)
        const [ours, theirs] = [await ourBuild(each), sideOf(recorded)]
        const difference = known.get(name)
        if (difference !== undefined) assertKnown(ours, theirs, difference)
        else if ('error' in theirs)
          assert.ok(
            'error' in ours,
            `${JSON.stringify(ours)} although Argo CD says: ${theirs.error}`,
          )
        else if (theirs.objects.length === 0)
          assert.match('error' in ours ? ours.error : JSON.stringify(ours), EMPTY)
        else assert.deepEqual(ours, theirs)
      })
  })
}

function sideOf({ objects, error = '' }: RecordedCase): BuiltSide {
  return objects === undefined ? { error } : sorted(objects)
}

function assertKnown(
  ours: BuiltSide,
  theirs: BuiltSide,
  { ours: how, why }: KnownDifference,
): void {
  assert.equal('error' in ours, how === 'refused', `${why}: ${JSON.stringify(ours)}`)
  assert.equal('error' in theirs, how === 'built', why)
  assert.notDeepEqual(ours, theirs, `${why}: the difference is gone`)
}
