import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namespaces } from '../../../test/faults/scripted-watch.ts'
import type { ApiResponse } from '../connection/transport.ts'
import { ServerCheck } from './server-check.ts'
import { WATCH_DEFAULTS } from './watch-options.ts'

const ANSWER: ApiResponse = {
  status: 200,
  headers: new Map([['content-type', 'application/json']]),
  body: JSON.stringify(namespaces('uid-1', '1000')),
}

test('kinds with a broken connection share one check, also while the next connection is not yet open', async () => {
  const asked: ((answer: ApiResponse) => void)[] = []
  const get = () => new Promise<ApiResponse>((resolve) => asked.push(resolve))
  const { signal } = new AbortController()
  const check = new ServerCheck({
    api: { cluster: 'test', get },
    settings: WATCH_DEFAULTS,
    connections: () => 1,
    signal,
  })
  const first = check.check()
  asked[0]?.(ANSWER)
  assert.equal(await first, undefined)
  check.markUnsure()
  let passed = 0
  const all = [1, 2, 3].map(async () => {
    await check.check()
    passed += 1
  })
  await new Promise(setImmediate)
  assert.deepEqual([asked.length, passed], [2, 0])
  asked[1]?.(ANSWER)
  await Promise.all(all)
  assert.deepEqual([asked.length, passed], [2, 3])
})

test('a server without a kube-system namespace is not the previous server', async () => {
  const answers = [
    ANSWER,
    { ...ANSWER, body: JSON.stringify({ ...namespaces('uid-1', '1'), items: [] }) },
  ]
  const get = async (): Promise<ApiResponse> => answers.shift() ?? ANSWER
  const { signal } = new AbortController()
  const check = new ServerCheck({
    api: { cluster: 'test', get },
    settings: WATCH_DEFAULTS,
    connections: () => 1,
    signal,
  })
  assert.equal(await check.check(), undefined)
  check.markUnsure()
  const away = await check.check()
  assert.deepEqual(
    [away?.failure.code, away?.failure.why],
    ['BP3015', 'it has no kube-system namespace, and the one that was seen first had one'],
  )
})
