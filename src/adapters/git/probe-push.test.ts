import assert from 'node:assert/strict'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { expectFailure, makeTestRepository, REMOTE_KINDS, type TestRepository, TOKEN } from '../../../test/contract/git-remotes.ts'
import { probePush } from './probe-push.ts'

const REFS = ['refs/heads/drafts/backporch-check/drift-check', 'refs/heads/drift-ledger', 'refs/tags/backporch-check/v0']
const { signal } = new AbortController()

async function probe(made: TestRepository, refs: readonly string[] = REFS, token = TOKEN) {
  const { remote, root, environment } = made
  return probePush({ remote, workingDirectory: root, environment, ...(made.backend === undefined ? {} : { token }) }, 'main', refs, signal)
}

function hook(made: TestRepository, name: string, script: string): void {
  const folder = made.git('rev-parse', '--absolute-git-dir')
  const path = join(folder, 'hooks', name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

for (const kind of REMOTE_KINDS) {
  describe(`probePush, ${kind}`, () => {
    it('finds what is let through, and leaves no trace', async () => {
      const made = await makeTestRepository(kind)
      try {
        hook(made, 'post-receive', `touch '${join(made.root, 'received')}'`)
        const before = made.git('for-each-ref')
        assert.deepEqual(
          (await probe(made)).map(({ answer }) => answer),
          ['let-through', 'let-through', 'let-through'],
        )
        assert.equal(made.git('for-each-ref'), before)
        assert.ok(!existsSync(join(made.root, 'received')), 'nothing was received')
      } finally {
        await made.close()
      }
    })

    it('finds what each of the two hooks refuses, ref by ref', async () => {
      for (const [name, script] of [
        ['pre-receive', 'grep -q refs/heads/drafts/ && { echo "no drafts here" >&2; exit 1; }; exit 0'],
        ['update', 'case "$1" in refs/heads/drafts/*) echo "no drafts here" >&2; exit 1;; esac'],
      ] as const) {
        const made = await makeTestRepository(kind)
        try {
          hook(made, name, script)
          const [drafts, ledger, tags] = await probe(made)
          assert.equal(drafts?.answer, 'refused', name)
          assert.match(drafts?.why ?? '', /hook declined/)
          assert.deepEqual([ledger?.answer, tags?.answer], ['let-through', 'let-through'], name)
        } finally {
          await made.close()
        }
      }
    })
  })
}

it('moves no ref that is there, and cannot tell of one that stands at the base commit', async () => {
  const made = await makeTestRepository('local bare')
  try {
    made.git('update-ref', 'refs/heads/drift-ledger', 'main~1')
    made.git('update-ref', 'refs/heads/drafts/backporch-check/drift-check', 'main')
    const before = made.git('for-each-ref')
    const answers = await probe(made)
    assert.deepEqual(
      answers.map(({ answer }) => answer),
      ['unclear', 'let-through', 'let-through'],
    )
    assert.equal(made.git('for-each-ref'), before)
  } finally {
    await made.close()
  }
})

it('says that the server does not know us', async () => {
  const made = await makeTestRepository('http')
  try {
    const failure = await expectFailure(probe(made, REFS, 'wrong'), 'BP4005')
    assert.doesNotMatch(JSON.stringify(failure), /wrong/)
  } finally {
    await made.close()
  }
})
