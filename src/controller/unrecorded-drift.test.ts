import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnrecordedDrift } from './unrecorded-drift.ts'

const WEB = { cluster: 'prod', packagePath: 'apps/web' }
const API = { cluster: 'prod', packagePath: 'apps/api' }

test('objects count by their worst risk until they are in sync, or a turn observed their unit', () => {
  const drift = new UnrecordedDrift()
  drift.judged(WEB, 'a', ['low', 'critical'])
  drift.judged(WEB, 'b', ['critical'])
  drift.judged(WEB, 'c', ['low'])
  drift.judged(API, 'a', ['medium'])
  assert.deepEqual(drift.objects(), [
    { ...WEB, risk: 'critical', count: 2 },
    { ...WEB, risk: 'low', count: 1 },
    { ...API, risk: 'medium', count: 1 },
  ])
  drift.judged(WEB, 'a', ['low'])
  drift.judged(WEB, 'b', [])
  assert.deepEqual(drift.objects()[0], { ...WEB, risk: 'low', count: 2 })
  drift.observed(WEB)
  drift.judged(API, 'a', [])
  assert.deepEqual(drift.objects(), [])
})
