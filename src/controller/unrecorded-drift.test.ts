import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnrecordedDrift } from './unrecorded-drift.ts'

const WEB = { cluster: 'prod', packagePath: 'apps/web' }
const API = { cluster: 'prod', packagePath: 'apps/api' }

test('objects count by their worst risk until they are in sync, or a turn observed their unit', () => {
  const drift = new UnrecordedDrift()
  drift.recordRisks(WEB, 'a', ['low', 'critical'])
  drift.recordRisks(WEB, 'b', ['critical'])
  drift.recordRisks(WEB, 'c', ['low'])
  drift.recordRisks(API, 'a', ['medium'])
  assert.deepEqual(drift.listObjects(), [
    { ...WEB, risk: 'critical', count: 2 },
    { ...WEB, risk: 'low', count: 1 },
    { ...API, risk: 'medium', count: 1 },
  ])
  drift.recordRisks(WEB, 'a', ['low'])
  drift.recordRisks(WEB, 'b', [])
  assert.deepEqual(drift.listObjects()[0], { ...WEB, risk: 'low', count: 2 })
  drift.markObserved(WEB)
  drift.recordRisks(API, 'a', [])
  assert.deepEqual(drift.listObjects(), [])
})
