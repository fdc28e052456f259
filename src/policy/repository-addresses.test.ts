import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAddressMatcher } from './repository-addresses.ts'

const REMOTE = 'https://git.example.com/team/deploy'
const MIRROR = 'https://git.internal/mirrors/deploy'

function policy(origin: 'operator' | 'repository', address: string, enforce = false) {
  return { origin, document: { spec: { alsoKnownAs: [address], enforce } } }
}

test('matches the remote address and the addresses that policies name', () => {
  const isHere = createAddressMatcher(
    [REMOTE],
    [policy('repository', MIRROR), policy('operator', 'git@git.backup:deploy')],
  )
  for (const address of [REMOTE, 'git@git.internal:mirrors/deploy.git', 'ssh://git.backup/deploy'])
    assert.equal(isHere(address), true, address)
  assert.equal(isHere('https://git.internal/mirrors/other'), false)
  assert.equal(isHere(''), false)
})

test('ignores an address from the repository policy when the operator enforces a policy', () => {
  const isHere = createAddressMatcher(
    [REMOTE],
    [policy('repository', MIRROR), policy('operator', 'https://git.backup/deploy', true)],
  )
  assert.deepEqual([REMOTE, MIRROR, 'https://git.backup/deploy'].map(isHere), [true, false, true])
  assert.equal(
    createAddressMatcher([REMOTE], [policy('repository', MIRROR, true)])(MIRROR),
    true,
    'a policy of the repository enforces nothing here',
  )
})
