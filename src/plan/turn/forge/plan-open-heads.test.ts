import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CommitStatus, OpenHead } from '@backporch/forge/hosted-forge'
import { parseObjectId } from '@backporch/kyaml/files'
import { MOST_HEADS, planOpenHeads } from './plan-open-heads.ts'

const commit = (number: number) => parseObjectId(String(number).padStart(40, '0'))
const fresh = (state: CommitStatus['state']): CommitStatus => ({
  context: 'drift/fresh',
  state,
  description: state,
  url: undefined,
})
const head = (
  kind: OpenHead['kind'],
  numbers: readonly number[],
  status?: CommitStatus,
): OpenHead => ({
  kind,
  commit: commit(kind === 'group' ? 1000 + (numbers[0] ?? 0) : (numbers[0] ?? 0)),
  numbers,
  status,
})
const planned = (...heads: readonly OpenHead[]): readonly string[] =>
  planOpenHeads(heads).writes.map(
    ({ commit, status }) => `${Number(commit)} ${status.state}: ${status.description}`,
  )

test('an ordinary pull request gets the status once, whatever its state', () => {
  assert.deepEqual(planned(head('pull-request', [1])), ['1 success: no drift proposal'])
  for (const state of ['success', 'pending', 'failure'] as const)
    assert.deepEqual(planned(head('pull-request', [1], fresh(state))), [])
})

test("a proposal and a pull request of the same commit keep the proposal's statuses", () => {
  assert.deepEqual(planned(head('proposal', [1])), [])
  assert.deepEqual(
    planned(head('proposal', [1]), { ...head('pull-request', [2]), commit: commit(1) }),
    [],
  )
})

test('a group is as fresh as the worst proposal in it, and waits for one without a status', () => {
  const [good, late, bad] = [
    head('proposal', [1], fresh('success')),
    head('proposal', [2], fresh('pending')),
    head('proposal', [3], fresh('failure')),
  ]
  assert.deepEqual(planned(head('group', [9])), ['1009 success: no drift proposal'])
  assert.deepEqual(planned(head('group', [9, 1]), good), ['1009 success: success'])
  assert.deepEqual(planned(head('group', [1, 2]), good, late), ['1001 pending: pending'])
  assert.deepEqual(planned(head('group', [3, 2, 1]), good, late, bad), ['1003 failure: failure'])
  assert.deepEqual(planned(head('group', [1, 4]), good, head('proposal', [4])), [])
})

test('one pass writes the first statuses and counts the rest', () => {
  const heads = Array.from({ length: MOST_HEADS + 2 }, (_, index) =>
    head('pull-request', [index + 1]),
  )
  const { writes, waiting } = planOpenHeads(heads)
  assert.deepEqual(
    writes.map((write) => write.commit),
    heads.slice(0, MOST_HEADS).map((each) => each.commit),
  )
  assert.equal(waiting, 2)
})
