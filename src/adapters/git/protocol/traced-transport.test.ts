import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTestRepository, openTestRepository, TOKEN } from '../../../../test/contract/git-remotes.ts'
import { Failure } from '../../../failure.ts'
import type { TracedRequest } from '../../../ports/trace.ts'

const signal = AbortSignal.timeout(60_000)

for (const kind of ['http', 'file', 'ssh'] as const) {
  test(`${kind}: each conversation is told with its outcome and time, and without credentials`, async () => {
    const made = await makeTestRepository(kind)
    try {
      const told: TracedRequest[] = []
      const remote = kind === 'http' ? made.remote.replace('://', `://ada:${TOKEN}@`) : made.remote
      const repository = openTestRepository({ ...made, remote }, { trace: (request) => told.push(request) })
      const { refs } = await repository.refs(signal)
      const [head] = refs.values()
      assert.ok(head !== undefined)
      await repository.list(head, '', signal)
      const [first, fetched] = [told[0], told.at(-1)]
      assert.match(first?.what ?? '', /^git-upload-pack .*: list refs$/)
      assert.match(first?.outcome ?? '', /^\d+ refs$/)
      assert.match(fetched?.what ?? '', /: send \d+ bytes$/)
      assert.ok(told.every(({ milliseconds }) => milliseconds >= 0 && milliseconds < 60_000))
      assert.doesNotMatch(JSON.stringify(told), new RegExp(`${TOKEN}|${Buffer.from(`ada:${TOKEN}`).toString('base64')}`))
    } finally {
      await made.close()
    }
  })
}

test('what fails is told as failed, and the failure is the one that comes without telling', async () => {
  const made = await makeTestRepository('http')
  try {
    const told: TracedRequest[] = []
    const repository = openTestRepository({ ...made, remote: `${made.remote}-not-there` }, { trace: (request) => told.push(request) })
    await assert.rejects(repository.refs(signal), Failure)
    assert.deepEqual(
      told.map(({ outcome }) => outcome),
      ['failed'],
    )
  } finally {
    await made.close()
  }
})
