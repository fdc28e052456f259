import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Permission } from '@backporch/forge/hosted-forge'
import { Failure } from '@backporch/kyaml/failure'
import type { Change } from '../../../record/documents/change.ts'
import { assertMayWrite, assertOwner } from './comment-rights.ts'

function change(risk: Change['risk'], source?: string): Change {
  return {
    ref: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
    change: 'modified',
    path: 'spec.x',
    actor: {
      manager: 'kubectl',
      operation: 'Update',
      class: 'human-tool',
      at: '',
      confidence: 'none',
    },
    risk,
    reason: 'X',
    resolution: 'Restore',
    ...(source === undefined ? {} : { source }),
    fingerprint: 'f',
  }
}

function isAllowed(work: () => void): boolean {
  try {
    work()
    return true
  } catch (thrown) {
    assert.ok(thrown instanceof Failure && thrown.code === 'BP2013', String(thrown))
    return false
  }
}

const PERMISSIONS: readonly Permission[] = ['none', 'read', 'write', 'admin']

test('commands require write permission', () => {
  const owned = { packagePath: 'apps/web', codeOwners: '' }
  const allowed = PERMISSIONS.filter((permission) =>
    isAllowed(() => assertMayWrite({ login: 'ann', permission }, owned)),
  )
  assert.deepEqual(allowed, ['write', 'admin'])
})

for (const [owners, login, permission, expected] of [
  ['', 'ann', 'write', true],
  ['/other/ @bob', 'ann', 'write', true],
  ['* @ann', 'ANN', 'write', true],
  ['* @bob', 'ann', 'admin', false],
  ['* @bob\n/apps/web/', 'ann', 'write', true],
  ['* @acme/sre', 'ann', 'write', false],
  ['* @acme/sre', 'ann', 'admin', true],
  ['* @acme/sre @ann', 'ann', 'write', true],
  ['* a@example.com', 'ann', 'write', false],
  ['* @acme/ann', 'ann', 'write', false],
  ['/apps/web/*.yaml @bob', 'ann', 'write', false],
] as const) {
  test(`${JSON.stringify(owners)}: ${login} with ${permission} ${expected ? 'may' : 'may not'}`, () => {
    const owned = { packagePath: 'apps/web', codeOwners: owners }
    for (const risk of ['critical', 'high'] as const) {
      const changes = [change('low'), change(risk, 'apps/web/deployment.yaml:12')]
      assert.equal(
        isAllowed(() => assertOwner('adopt', changes, { login, permission }, owned)),
        expected,
      )
    }
    assert.ok(
      isAllowed(() => assertOwner('adopt', [change('medium')], { login, permission }, owned)),
    )
  })
}
