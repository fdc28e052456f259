/** The real program and the real Gitea: somebody decides in the moment in which a scan pushes the next state of the branch. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CrashFixture, type CrashWorld, openCrashFixture } from '../gitea/crash-world.ts'
import { giteaSuite } from '../gitea/gitea-suite.ts'

interface End {
  readonly text: readonly {
    readonly number: number
    readonly state: string
    readonly body: string
    readonly merged?: boolean
  }[]
  readonly refs: {
    readonly [ref: string]: { readonly content: readonly (readonly [path: string, text: string])[] }
  }
}

await giteaSuite('somebody decides while a scan pushes', {}, (gitea) => {
  let fixture: CrashFixture
  before(async () => {
    fixture = await openCrashFixture(gitea)
  })
  after(() => fixture?.close())

  for (const how of ['merged', 'closed'] as const) {
    test(`${how}: the branch content is decided, and what the scan adds gets a pull request of its own`, async () => {
      const world = await fixture.open()
      world.live('red', 'kubectl-edit')
      await scanned(world)
      const reviewed = await textOf(world, 1)
      world.live('green', 'kubectl-edit')
      let isDecided = false
      await scanned(world, async (write) => {
        if (write !== 'push' || isDecided) return undefined
        isDecided = true
        if (how === 'closed') await world.send('PATCH', '/pulls/1', { state: 'closed' })
        else await world.merge()
        return undefined
      })
      assert.ok(isDecided)
      for (let scan = 0; scan < 3; scan += 1) await scanned(world)
      const { text, refs } = (await world.end()) as End
      assert.equal(await textOf(world, 1), reviewed, 'the text that was reviewed stays')
      const pulls = text
        .filter(({ merged }) => merged !== undefined)
        .map(({ number, state, merged }) => [number === 1, state, merged])
      assert.deepEqual(pulls, [
        [true, 'closed', how === 'merged'],
        [false, 'open', false],
      ])
      const closed = (refs['refs/heads/drift-ledger']?.content ?? [])
        .filter(([path]) => path.startsWith('closed/'))
        .map(([, text]) => text)
      assert.equal(closed.length, 1)
      const [decision = ''] = closed
      assert.match(decision, new RegExp(`outcome: ${how === 'merged' ? 'Merged' : 'Declined'}`))
      assert.match(decision, new RegExp(`decidedBy: ${world.writer.name}`))
      assert.match(decision, /live: red/)
      assert.doesNotMatch(decision, /live: green/)
      const open = Object.keys(refs).filter((ref) => ref.startsWith('refs/heads/proposed/'))
      assert.equal(open.length, 1)
      const requested = refs[open[0] ?? '']?.content.filter(
        ([path, text]) => path.startsWith('.drift/records/') && /live: green/.test(text),
      )
      assert.equal(requested?.length, 1)
      assert.equal(
        Object.keys(refs).filter((ref) => ref.startsWith('refs/tags/')).length,
        how === 'merged' ? 1 : 0,
      )
    })
  }
})

async function scanned(world: CrashWorld, at?: Parameters<CrashWorld['run']>[1]): Promise<void> {
  const { code, stderr } = await world.run('scan', at)
  assert.ok(code === 0 || code === 1, stderr)
}

async function textOf(world: CrashWorld, number: number): Promise<string> {
  const { title, body } = await world.send<{ title: string; body: string }>(
    'GET',
    `/pulls/${number}`,
  )
  return `${title}\n${body}`
}
