import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GroupMember } from '../../status/resource-group.ts'
import { formatRolloutLines } from './print-applier.ts'

function member(name: string, status: GroupMember['status'], health?: string): GroupMember {
  const id = { group: 'apps', kind: 'Deployment', namespace: 'shop', name }
  return { id, status, drift: 'in-sync', message: '', ...(health === undefined ? {} : { health }) }
}

test('prints objects that kstatus calls Reconciling or Failed, and no finished or missing ones', () => {
  const health = [
    member('web', 'InProgress', 'Available: 0/1'),
    member('api', 'Current'),
    member('job', 'Failed', 'no'),
    member('gone', 'NotFound'),
    member('old', 'InProgress'),
  ]
  assert.deepEqual(formatRolloutLines(health), [
    'Failed: Deployment shop/job: no',
    'Reconciling: Deployment shop/web: Available: 0/1',
    'Reconciling: Deployment shop/old: its controller is working',
  ])
})

test('text from a cluster cannot move the cursor', () => {
  const [line = ''] = formatRolloutLines([member('web', 'InProgress', 'a\u001b[2Jb\nc')])
  assert.match(line, /^[^\p{Cc}]*$/u)
})
