import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BOT_EMAIL, MemoryRepository } from '../../../test/fakes/memory-repository.ts'
import { findMergeCommit } from './find-merge-commit.ts'

const PAGES = 'pages@forge.example.com'
const ACCOUNT_EMAIL = '12+porch[bot]@users.noreply.github.com'
const PATH = '.drift/records/one/apps/web/2026-11-21-1a2b3c4d.yaml'

for (const [title, people, by] of [
  [
    'merged in the pages of a forge: by its author',
    { author: 'grace@example.com', committer: PAGES },
    'grace@example.com',
  ],
  [
    'squashed with the account as author: by its committer',
    { author: BOT_EMAIL, committer: 'grace@example.com' },
    'grace@example.com',
  ],
  [
    'by the account and the forge alone: by nobody',
    { author: BOT_EMAIL, committer: PAGES },
    undefined,
  ],
  [
    'squashed from a commit that the forge made for the account: by nobody',
    { author: ACCOUNT_EMAIL, committer: PAGES },
    undefined,
  ],
  [
    'squashed from one by a person: by its committer',
    { author: ACCOUNT_EMAIL, committer: 'grace@example.com' },
    'grace@example.com',
  ],
] as const) {
  test(title, async () => {
    const repository = new MemoryRepository()
    repository.commitByHand('main', { 'README.md': 'x\n' })
    const id = repository.commitByHand('main', { [PATH]: 'kind: DriftRecord\n' }, people)
    const bot = { email: BOT_EMAIL, forges: [PAGES], account: 'porch[bot]' }
    const signal = new AbortController().signal
    const found = await findMergeCommit(
      repository,
      await repository.commit(id),
      { path: PATH, packageName: 'web', bot },
      signal,
    )
    assert.equal(found?.commit, id)
    assert.equal(/<(.*)>$/.exec(found.by ?? '')?.[1], by)
  })
}
