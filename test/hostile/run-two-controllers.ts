/**
 * Every decision is in `history` once, none is lost and none invented, whatever two controllers do at the same time. Run by hand: what meets
 * what is chance.
 *
 *   BACKPORCH_TEST_SECONDS=600 BACKPORCH_TEST_SEED=1 node --test test/hostile/run-two-controllers.ts
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { giteaSuite } from '../gitea/gitea-suite.ts'
import { twoControllers } from './two-controllers.ts'

const seconds = Number(process.env['BACKPORCH_TEST_SECONDS'] ?? 60)
const seed = Number(process.env['BACKPORCH_TEST_SEED'] ?? Math.floor(Math.random() * 1_000_000))

await giteaSuite('two controllers, and people who decide meanwhile', {}, (gitea) => {
  test('each decision is told once, with who made it, and no other one is told', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'backporch-two-controllers-'))
    try {
      const { acts, told, counts, person } = await twoControllers(gitea, folder, seed, seconds)
      t.diagnostic(`seed ${seed}, ${seconds} s: ${JSON.stringify(counts)}, ${acts.length} decisions`)
      const made = acts.flatMap(({ episodes, outcome }) => episodes.map((episode) => `${episode} ${outcome} ${person}`))
      const listed = told
        .filter(({ outcome }) => outcome === 'Merged' || outcome === 'Declined')
        .map(({ episode, outcome, decidedBy }) => `${episode} ${outcome} ${decidedBy}`)
      assert.deepEqual(listed.sort(), made.sort(), `seed ${seed}`)
      assert.ok(acts.length > 0, 'nothing was decided')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
