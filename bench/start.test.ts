import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatStarts, readCost } from './start.ts'

test('CPU is what the process and the kernel took, and memory is in MiB', () => {
  assert.deepEqual(readCost('0.120 0.050 0.025\n', '61440\n'), {
    wall: 0.12,
    cpu: 0.05 + 0.025,
    memory: 60,
  })
})

test('a table of starts has the median with the least and the most', () => {
  const table = formatStarts([
    {
      name: '`node -e 0`',
      costs: [
        { wall: 0.04, cpu: 0.02, memory: 42 },
        { wall: 0.05, cpu: 0.03, memory: 42 },
      ],
    },
  ])
  assert.equal(
    table,
    '| start | wall s | CPU s | memory MiB |\n| --- | --- | --- | --- |\n| `node -e 0` | 0.04 (0.04–0.05) | 0.025 (0.020–0.030) | 42 |\n',
  )
})
