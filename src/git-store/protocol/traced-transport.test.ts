import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { TracedRequest } from '@backporch/system/trace'
import {
  makeTestRepository,
  openTestRepository,
  TOKEN,
} from '../../../test/contract/git-remotes.ts'

const { signal } = new AbortController()

for (const kind of ['http', 'file', 'ssh'] as const) {
  test(`${kind}: traces each request with outcome and duration, without credentials`, async () => {
    const created = await makeTestRepository(kind)
    try {
      const reported: TracedRequest[] = []
      const remote =
        kind === 'http' ? created.remote.replace('://', `://ada:${TOKEN}@`) : created.remote
      const repository = openTestRepository(
        { ...created, remote },
        { trace: (request) => reported.push(request) },
      )
      const { refs } = await repository.listRefs(signal)
      const [head] = refs.values()
      assert.ok(head !== undefined)
      await repository.list(head, '', signal)
      const [first, fetched] = [reported[0], reported.at(-1)]
      assert.match(first?.what ?? '', /^git-upload-pack .*: list refs$/)
      assert.match(first?.outcome ?? '', /^\d+ refs$/)
      assert.ok(reported.every(({ to }) => to.system === 'git' && to.name === 'fetch'))
      assert.match(fetched?.what ?? '', /: send \d+ bytes$/)
      assert.ok(reported.every(({ milliseconds }) => milliseconds >= 0 && milliseconds < 60_000))
      assert.doesNotMatch(
        JSON.stringify(reported),
        new RegExp(`${TOKEN}|${Buffer.from(`ada:${TOKEN}`).toString('base64')}`),
      )
    } finally {
      await created.close()
    }
  })
}

test('traces a failure as failed, and throws the same failure as without a trace', async () => {
  const created = await makeTestRepository('http')
  try {
    const reported: TracedRequest[] = []
    const repository = openTestRepository(
      { ...created, remote: `${created.remote}-not-there` },
      { trace: (request) => reported.push(request) },
    )
    await assert.rejects(repository.listRefs(signal), Failure)
    assert.deepEqual(
      reported.map(({ outcome }) => outcome),
      ['failed'],
    )
  } finally {
    await created.close()
  }
})
