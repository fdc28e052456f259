import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { isSameRepository } from '../../syncers/sync-path.ts'
import { judgePorch } from './check-porch.ts'

const REPOSITORY = {
  isHere: (address: string) => isSameRepository(address, 'https://git.example.com/acme/deploy.git'),
  baseBranch: 'main',
  approvesInPorch: false,
}

function registered(git: JsonObject): JsonObject {
  return {
    apiVersion: 'config.porch.kpt.dev/v1alpha1',
    kind: 'Repository',
    metadata: { name: 'fleet', namespace: 'porch' },
    spec: {
      type: 'git',
      git: { repo: 'https://git.example.com/acme/deploy', branch: 'main', ...git },
    },
  }
}

test('ignores a Porch Repository with another address', () => {
  assert.deepEqual(
    judgePorch([registered({ repo: 'https://git.example.com/acme/other.git' })], REPOSITORY),
    [],
  )
})

test('warns of a Porch Repository with this address if no policy sets approval: porch', () => {
  const [finding] = judgePorch([registered({ directory: '/apps/' })], REPOSITORY)
  assert.equal(finding?.state, 'warning')
  assert.match(finding.fix ?? '', /spec\.approval: porch .* --name fleet --directory apps/)
})

test('passes with approval: porch', () => {
  const [finding] = judgePorch([registered({})], { ...REPOSITORY, approvesInPorch: true })
  assert.equal(finding?.state, 'passed')
  assert.match(
    finding.message,
    /Porch has this repository as porch\/fleet; backporch get packages --name fleet has its names/,
  )
})

test('warns of a Porch Repository with another branch', () => {
  const [finding] = judgePorch([registered({ branch: 'live' })], {
    ...REPOSITORY,
    approvesInPorch: true,
  })
  assert.equal(finding?.state, 'warning')
  assert.match(finding.message, /with the branch live and not main/)
})
