import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import { policyText, refused } from '../../../test/fakes/turn-world.ts'
import { KnownGoodPolicies, MOST_COMMITS, readUsablePolicies } from './usable-policies.ts'

const signal = new AbortController().signal
const GOOD = policyText('{mode: Warn}')
const TYPO = policyText('{mode: Wran}')

function idOf(number: number): ObjectId {
  return parseObjectId(number.toString(16).padStart(40, '0'))
}

/** A line of commits with one policy file each, the first one first. */
function lineOf(texts: readonly string[]) {
  const read: number[] = []
  const numberOf = (commit: ObjectId): number => Number.parseInt(commit, 16)
  const repository = {
    commit: async (id: ObjectId) => ({
      parents: numberOf(id) === 0 ? [] : [idOf(numberOf(id) - 1)],
    }),
  }
  const filesAt = async (commit: ObjectId) => {
    read.push(numberOf(commit))
    return [{ path: '.drift/default.policy', text: texts[numberOf(commit)] ?? '' }]
  }
  return { read, history: { repository, base: idOf(texts.length - 1), filesAt } }
}

test('a valid policy is read without searching the history', async () => {
  const { history, read } = lineOf([TYPO, GOOD])
  assert.equal((await readUsablePolicies(history, signal)).lastGood, undefined)
  assert.deepEqual(read, [1])
})

test('the search for a valid policy stops after a fixed number of commits', async () => {
  const broken = Array.from({ length: MOST_COMMITS }, () => TYPO)
  const { history } = lineOf([GOOD, ...broken])
  const { lastGood, policies } = await readUsablePolicies(history, signal)
  assert.equal(lastGood?.commit, idOf(0))
  assert.equal(policies[0]?.document.spec.mode, 'Warn')
  const { why } = await refused(
    readUsablePolicies(lineOf([GOOD, TYPO, ...broken]).history, signal),
    'BP1005',
  )
  assert.match(why, /none of the last 1000 commits has a policy that can be used$/)
})

test('the problem comes from the newest commit and the policy from the newest valid one', async () => {
  const { history } = lineOf([
    GOOD,
    policyText('{mode: Off}'),
    TYPO,
    policyText('{settle: nobody}'),
  ])
  const { lastGood, policies } = await readUsablePolicies(history, signal)
  assert.match(lastGood?.problem.why ?? '', /^spec\.settle/)
  assert.equal(lastGood?.commit, idOf(1))
  assert.equal(policies[0]?.document.spec.mode, 'Off')
})

test('the search result is cached for every commit on the way', async () => {
  const known = new KnownGoodPolicies()
  const texts = [GOOD, TYPO, TYPO, TYPO]
  await readUsablePolicies({ ...lineOf(texts).history, known }, signal)
  for (const base of [1, 2, 3]) {
    const { history, read } = lineOf(texts)
    const { lastGood } = await readUsablePolicies({ ...history, base: idOf(base), known }, signal)
    assert.deepEqual([lastGood?.commit, read], [idOf(0), [base, 0]])
  }
})
