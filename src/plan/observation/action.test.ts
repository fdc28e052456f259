import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinWrites, NO_WRITES } from './action.ts'

test('a ledger file that two units of one cluster share is written once', () => {
  const observation = { path: 'clusters/prod/observation.yaml', text: 'seen\n' }
  const unit = (name: string) => ({
    ...NO_WRITES,
    ledger: [{ path: `clusters/prod/${name}/report.yaml`, text: name }, observation],
    ledgerLines: [name],
  })
  const joined = joinWrites([unit('web'), unit('orders')])
  assert.deepEqual(joined.ledger.map(({ path }) => path).sort(), [
    'clusters/prod/observation.yaml',
    'clusters/prod/orders/report.yaml',
    'clusters/prod/web/report.yaml',
  ])
  assert.deepEqual(joined.ledgerLines, ['web', 'orders'])
})
