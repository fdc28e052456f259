import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMetrics } from './measure.ts'
import { formatTable, percentile, spread, withSection } from './table.ts'

const COST = { wall: 1, clientCpu: 0.5, serverCpu: 0.25, requests: 600, dryRuns: 300 }

test('a table has the median with the least and the most', () => {
  const table = formatTable([
    {
      tool: 'ours',
      costs: [COST, { ...COST, wall: 3 }, { ...COST, wall: 1.5 }],
      remembered: '25 of 25',
    },
    { tool: 'theirs', costs: [{ ...COST, clientCpu: Number.NaN }], remembered: undefined },
  ])
  assert.equal(
    table,
    `| tool | requests | of them dry runs | wall s | client CPU s | API server CPU s | manual edits detected |
| --- | --- | --- | --- | --- | --- | --- |
| ours | 600 | 300 | 1.50 (1.00–3.00) | 0.50 | 0.25 | 25 of 25 |
| theirs | 600 | 300 | 1.00 | not measured | 0.25 | reports no fields |
`,
  )
})

test('the median of an even number lies between the middle two', () => {
  assert.equal(spread([4, 1, 2, 3], 1), '2.5 (1.0–4.0)')
  assert.equal(spread([], 1), 'not measured')
})

test('a section takes the place of the one with its heading, and leaves the others', () => {
  const first = withSection(withSection('# Performance\n', '## A', 'one'), '## B', 'two')
  assert.equal(first, '# Performance\n\n## A\n\none\n\n## B\n\ntwo\n')
  assert.equal(
    withSection(first, '## A', 'three\n'),
    '# Performance\n\n## A\n\nthree\n\n## B\n\ntwo\n',
  )
  assert.equal(
    withSection(first, '## B', 'three'),
    '# Performance\n\n## A\n\none\n\n## B\n\nthree\n',
  )
})

test('requests are counted from the metrics, without those that the server makes for itself', () => {
  const line = (labels: string, count: number): string =>
    `apiserver_request_total{code="200",${labels}} ${count}`
  const metrics = [
    '# TYPE apiserver_request_total counter',
    line('dry_run="",resource="configmaps",subresource="",verb="LIST"', 3),
    line('dry_run="All",resource="configmaps",subresource="",verb="APPLY"', 5),
    line('dry_run="",resource="leases",subresource="",verb="PUT"', 100),
    line('dry_run="",resource="",subresource="/metrics",verb="GET"', 100),
    line('dry_run="",resource="configmaps",subresource="",verb="WATCH"', 100),
    'process_cpu_seconds_total 1.25e+01',
  ].join('\n')
  assert.deepEqual(readMetrics(metrics), { cpu: 12.5, requests: 8, dryRuns: 5 })
})

test('a percentile is one of the values, and not above the greatest', () => {
  const values = Array.from({ length: 20 }, (_none, index) => 20 - index)
  assert.deepEqual(
    [percentile(values, 50), percentile(values, 95), percentile(values, 100), percentile([7], 95)],
    [10, 19, 20, 7],
  )
  assert.ok(Number.isNaN(percentile([], 50)))
})
