/**
 * Small packages of ours, and what kpt 1.0.0-beta.56 made of each with the original function of exactly the release that the Kptfile names
 * (`cases.json`: built from its release tag; no image was pulled).
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { passThroughText } from '@backporch/kpt/render'
import { builtInFunctions } from '../../functions/built-in-functions.ts'
import type { OddPackage } from './odd-packages.ts'
import { outcomeOf } from './outcome.ts'

interface RecordedCase {
  readonly name: string
  readonly files: OddPackage
  readonly attribution: boolean
  readonly kpt: {
    readonly exitCode: number
    readonly changed: OddPackage
    readonly removed: readonly string[]
  }
}

const CASES = JSON.parse(
  readFileSync(new URL('cases.json', import.meta.url), 'utf8'),
) as readonly RecordedCase[]

describe('kpt with the original functions', () => {
  for (const { name, files, attribution, kpt } of CASES)
    it(name, () => {
      const ours = outcomeOf(files, passThroughText(builtInFunctions), attribution)
      if (kpt.exitCode !== 0) return assert.ok('refused' in ours)
      const expected = Object.entries({ ...files, ...kpt.changed }).filter(
        ([path]) => !kpt.removed.includes(path),
      )
      assert.deepEqual('files' in ours ? ours.files : ours.refused, Object.fromEntries(expected))
    })
})
