import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatRows } from './adopt.ts'

test('a row is compared with the one that it names, by the medians of CPU', () => {
  const cost = (cpu: number, programs: number) => ({ wall: 9, cpu, memory: 140, programs })
  assert.equal(
    formatRows(
      [{ name: 'diff' }, { name: 'adopt', of: 0 }],
      [
        [cost(2, 1), cost(2.2, 1), cost(9, 1)],
        [cost(3.3, 5), cost(3.1, 5), cost(3.5, 5)],
      ],
    ),
    '| command | programs | CPU s | ratio | memory MiB |\n| --- | --- | --- | --- | --- |\n| diff | 1 | 2.20 (2.00–9.00) |  | 140 |\n| adopt | 5 | 3.30 (3.10–3.50) | 1.50 | 140 |\n',
  )
})
