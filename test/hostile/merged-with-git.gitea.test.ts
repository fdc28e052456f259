/** The real program and the real Gitea, which knows of a merge later than git does, or never. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { type CrashFixture, type CrashWorld, openCrashFixture } from '../gitea/crash-world.ts'
import { giteaSuite } from '../gitea/gitea-suite.ts'
import { waitUntil } from '../waiting/wait-until.ts'

interface Pull {
  readonly state: string
  readonly merged: boolean
  readonly head: { readonly ref: string; readonly sha: string }
}

await giteaSuite('git has a merge that Gitea does not have', {}, (gitea) => {
  let fixture: CrashFixture
  let folder = ''
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'backporch-merged-'))
    fixture = await openCrashFixture(gitea)
  })
  after(async () => {
    await fixture?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function opened(): Promise<CrashWorld> {
    const world = await fixture.open()
    world.live('red', 'kubectl-edit')
    await scanned(world)
    return world
  }
  const pull = (world: CrashWorld): Promise<Pull> => world.send('GET', '/pulls/1')
  const comments = async (world: CrashWorld): Promise<readonly string[]> =>
    (await world.send<{ body: string }[]>('GET', '/issues/1/comments')).map(({ body }) => body)
  const decision = async (world: CrashWorld): Promise<string> => {
    const { refs } = (await world.end()) as {
      refs: { [ref: string]: { content: [string, string][] } }
    }
    const closed = (refs['refs/heads/drift-ledger']?.content ?? []).filter(([path]) =>
      path.startsWith('closed/'),
    )
    assert.equal(closed.length, 1)
    return closed[0]?.[1] ?? ''
  }
  const ownerAndName = ({ path }: CrashWorld): [string, string] => [
    path.split('/')[2] ?? '',
    path.split('/')[3] ?? '',
  ]

  for (const how of ['merge', 'fast-forward', 'squash'] as const) {
    test(`merged with plain git (${how}): history has a merge, and the pull request says so`, async () => {
      const world = await opened()
      const { head } = await pull(world)
      const git = (...args: string[]) =>
        gitea.git(world.writer, args, { directory: join(folder, how) })
      const clone = gitea.cloneUrl(world.writer, ...ownerAndName(world)).plain
      await gitea.git(world.writer, ['clone', '--quiet', clone, how], { directory: folder })
      if (how === 'squash') {
        await git('merge', '--squash', `origin/${head.ref}`)
        await git('commit', '--quiet', '--message', 'back to blue')
      } else
        await git(
          'merge',
          '--quiet',
          how === 'merge' ? '--no-ff' : '--ff-only',
          '--no-edit',
          `origin/${head.ref}`,
        )
      await git('push', '--quiet', 'origin', 'main')
      assert.equal((await pull(world)).state, 'open', 'Gitea does not look for it')
      for (let scan = 0; scan < 2; scan += 1) await scanned(world)
      const reported = await decision(world)
      assert.match(reported, /outcome: Merged/)
      // Nobody made a commit of his own where the branch was taken as it is.
      assert.match(
        reported,
        how === 'fast-forward' ? /decidedBy: ""/ : new RegExp(`decidedBy: ${world.writer.name} `),
      )
      const now = await ended(world)
      assert.deepEqual([now.state, now.merged], ['closed', false])
      const text = (await comments(world)).filter((body) => body.includes('**Merged**'))
      assert.equal(text.length, 1)
      assert.match(
        text[0] ?? '',
        /on the base branch contains it\. Gitea does not recognise that merge and shows this pull request as closed/,
      )
    })
  }

  test('keeps the branch until Gitea records its own merge, and names the person', async () => {
    const world = await opened()
    const [owner, name] = ownerAndName(world)
    const repository = join(
      dirname(gitea.stateFile),
      'repositories',
      owner.toLowerCase(),
      `${name.toLowerCase()}.git`,
    )
    const hook = join(repository, 'hooks', 'post-receive.d', 'a-wait')
    const go = join(folder, 'go')
    // Before Gitea's own: git has moved the branch, and Gitea was not told. It does not outlive an interrupted run.
    const wait = `#!/bin/sh\nif read -r _ _ ref && [ "$ref" = refs/heads/main ]; then\n  while [ ! -e '${go}' ] && kill -0 ${process.pid} 2>/dev/null; do sleep 0.1; done\nfi\n`
    const before = await tipOf(world)
    writeFileSync(hook, wait, { mode: 0o755 })
    const merging = world.merge()
    try {
      await waitUntil('git has moved the branch', async () => (await tipOf(world)) !== before)
      const from = world.requested().length
      const scanning = scanned(world)
      let isOver = false
      const over = (): void => {
        isOver = true
      }
      scanning.then(over, over)
      const hasObserved = (): boolean => world.requested().slice(from).includes('GET /pulls/1')
      await waitUntil('the scan asks Gitea, or ends', () => hasObserved() || isOver)
      assert.ok(hasObserved(), 'it asks Gitea before it takes the branch away')
      writeFileSync(go, '')
      await merging
      await scanning
    } finally {
      if (!existsSync(go)) writeFileSync(go, '')
      rmSync(hook)
    }
    const now = await ended(world)
    assert.deepEqual([now.state, now.merged], ['closed', true])
    for (let scan = 0; scan < 2; scan += 1) await scanned(world)
    assert.match(
      await decision(world),
      new RegExp(`outcome: Merged\\n +decidedBy: ${world.writer.name}\\n`),
    )
    assert.deepEqual(await comments(world), [], 'the page says it')
  })

  async function tipOf(world: CrashWorld): Promise<string> {
    const remote = gitea.cloneUrl(world.writer, ...ownerAndName(world)).plain
    return (
      await gitea.git(world.writer, ['ls-remote', remote, 'refs/heads/main'], { directory: folder })
    ).stdout
  }

  /** Gitea ends it some time after the push that takes its branch away. */
  function ended(world: CrashWorld): Promise<Pull> {
    return waitUntil('#1 is closed', async () => {
      const now = await pull(world)
      return now.state === 'closed' && now
    })
  }
})

async function scanned(world: CrashWorld): Promise<void> {
  const { code, stderr } = await world.run('scan')
  assert.ok(code === 0 || code === 1, stderr)
}
