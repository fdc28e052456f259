/**
 * Every decision is in `history` once, none is lost and none invented, whatever two controllers do at the same time. Run by hand and by
 * `npm run explore`: what meets what is chance.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { giteaSuite } from '../gitea/gitea-suite.ts'
import { EFFORT, testEachSeed } from '../seeds/seeds.ts'
import { twoControllers } from './two-controllers.ts'

const DEEDS = 60 * EFFORT

await giteaSuite('two controllers, and people who decide meanwhile', {}, (gitea) => {
  testEachSeed(
    import.meta.filename,
    'reports each decision once, with who made it, and no other',
    {},
    async (t, seed) => {
      const folder = mkdtempSync(join(tmpdir(), 'backporch-two-controllers-'))
      try {
        const { acts, reported, counts, log } = await twoControllers(gitea, folder, seed, DEEDS)
        t.diagnostic(`${JSON.stringify(counts)}, ${acts.length} decisions`)
        const textsOf = (some: typeof acts) =>
          some.flatMap(({ episodes, outcome, by }) =>
            episodes.map((episode) => `${episode} ${outcome} ${by}`),
          )
        const listed = reported
          .filter(({ outcome }) => outcome === 'Merged' || outcome === 'Declined')
          .map(
            ({ episode, outcome, decidedBy }) =>
              `${episode} ${outcome} ${decidedBy.replace(/ <.*/, '')}`,
          )
        const certain = textsOf(acts.filter(({ mayBeReported }) => mayBeReported !== true))
        const perhaps = new Set(
          textsOf(acts.filter(({ mayBeReported: reportAllowed }) => reportAllowed === true)),
        )
        const created = [
          ...certain,
          ...[...perhaps].filter((one) => listed.includes(one) && !certain.includes(one)),
        ]
        const wrong = [...created, ...listed].filter(
          (one) => count(created, one) !== count(listed, one),
        )
        for (const one of new Set(wrong)) {
          const [episode = ''] = one.split(' ')
          t.diagnostic(
            `${one}: made ${count(created, one)} times, told ${count(listed, one)} times`,
          )
          for (const act of acts)
            if (act.episodes.includes(episode)) t.diagnostic(`  ${JSON.stringify(act)}`)
          for (const line of log) if (line.includes(episode.slice(0, 8))) t.diagnostic(`  ${line}`)
          for (const each of reported)
            if (each.episode === episode) t.diagnostic(`  ${JSON.stringify(each)}`)
        }
        assert.deepEqual(listed.sort(), created.sort())
        assert.ok(acts.length > 0, 'nothing was decided')
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  )
})

function count(list: readonly string[], wanted: string): number {
  return list.filter((one) => one === wanted).length
}
