/** Every built-in function against what the original of each release made of the same inputs. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { KrmFunction } from '@backporch/kpt/function'
import { chooseRelease, formatRelease } from '@backporch/kpt/runtime'
import { BUILT_IN } from '../../functions/built-in-functions.ts'
import { KNOWN_DIFFERENCES } from './known-differences.ts'
import { inputsOf } from './original-inputs.ts'
import { builtInLibrary, digestOfOutcome, outcomeOf } from './outcome.ts'
import { digestOfInputs, readRecording, recordedFunctions, VARIES } from './recording.ts'
import { SERVED_ORIGINALS, testFileOf } from './served-originals.ts'

/** A validator without an original (docs/adr/0054), and functions of Backporch. */
const WITHOUT_ORIGINAL = [
  'kubeconform',
  'adopt-drift',
  'gate-drift',
  'set-default-requests',
  'verify-drift-records',
]

describe('the built-in releases', () => {
  for (const [name, { variants }] of BUILT_IN) {
    if (WITHOUT_ORIGINAL.includes(name)) continue
    it(`of ${name} are between two recorded releases`, () => {
      const recorded = Object.keys(readRecording(name)?.releases ?? {})
      for (const { from, below } of variants) {
        const [major, minor, patch] = below
        for (const bound of [from, [major, minor, patch - 1] as const])
          assert.ok(recorded.includes(formatRelease(bound)), formatRelease(bound))
      }
    })
  }
})

describe('the originals on the module proxy', () => {
  it('have one test file each, and there is no other test file', () => {
    assert.deepEqual(
      readdirSync(new URL('served/', import.meta.url)).sort(),
      SERVED_ORIGINALS.map(testFileOf).sort(),
    )
  })

  it('are recorded releases', () => {
    for (const { name, release } of SERVED_ORIGINALS)
      assert.ok(readRecording(name)?.releases[release] !== undefined, `${name} ${release}`)
  })
})

for (const name of recordedFunctions()) {
  const builtIn = BUILT_IN.get(name)
  const recording = readRecording(name)
  if (builtIn === undefined || recording === undefined) continue
  describe(`${name}`, () => {
    const inputs = inputsOf(name)
    /** By behaviour: releases that behave alike share it. */
    const digests = new Map<KrmFunction, readonly string[]>()
    const ours = (run: KrmFunction): readonly string[] => {
      const known =
        digests.get(run) ??
        inputs.map(({ files }) => digestOfOutcome(outcomeOf(files, builtInLibrary(run))))
      digests.set(run, known)
      return known
    }

    it('is recorded for at least 300 inputs, which are the current ones', () => {
      assert.ok(inputs.length >= 300)
      assert.equal(
        recording.inputs,
        digestOfInputs(inputs),
        'the inputs differ from those that the originals were run on: run record.ts with the originals again',
      )
    })

    for (const [release, expected] of Object.entries(recording.releases)) {
      const chosen = chooseRelease(builtIn, release, false)
      if ('why' in chosen) continue
      it(`${release} gives the same result as the original for every input`, () => {
        const known =
          KNOWN_DIFFERENCES[name]?.filter(({ releases }) => releases.includes(release)) ?? []
        const different = ours(chosen.run).flatMap((digest, number) =>
          [digest, VARIES].includes(expected[number] ?? '') ? [] : [number],
        )
        assert.deepEqual(
          different,
          known.flatMap(({ inputs }) => inputs).sort((one, other) => one - other),
        )
        // What is refused alone shows as an error, and never as drift.
        const refusedByUs = new Set(
          known.filter(({ ours }) => ours === 'refused').flatMap(({ inputs }) => inputs),
        )
        for (const number of refusedByUs) assert.equal(ours(chosen.run)[number], 'refused')
      })
    }
  })
}
