import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  getDeclaration,
  METRICS,
  type MetricName,
  PROCESS_METRICS,
} from '../../src/adapters/metrics/metric-table.ts'

const MONITORING = new URL('../../deploy/monitoring/', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, MONITORING), 'utf8')
const dashboards = readdirSync(new URL('dashboards/', MONITORING))
const RULES = read('alerts.yaml')

/** Names of series, with those that a histogram makes of its own. */
const SERIES = new Set([
  ...PROCESS_METRICS,
  ...(Object.keys(METRICS) as MetricName[]).flatMap((name) =>
    getDeclaration(name).type === 'histogram'
      ? ['_bucket', '_sum', '_count'].map((end) => `${name}${end}`)
      : [name],
  ),
])

function seriesIn(text: string): string[] {
  return [...new Set(text.match(/\b(?:backporch|workqueue|process|nodejs)_[a-z0-9_]+/g))]
}

for (const file of ['alerts.yaml', ...dashboards.map((name) => `dashboards/${name}`)]) {
  test(`deploy/monitoring/${file} queries only existing metrics`, () => {
    const queries = file.endsWith('.yaml')
      ? RULES
      : (JSON.parse(read(file)) as { panels: { targets: { expr: string }[] }[] }).panels
          .flatMap(({ targets }) => targets.map(({ expr }) => expr))
          .join('\n')
    assert.deepEqual(
      seriesIn(queries).filter((name) => !SERIES.has(name)),
      [],
    )
    assert.notEqual(seriesIn(queries).length, 0)
  })
}

test('every metric of our own is in a dashboard or an alert', () => {
  const used = seriesIn([RULES, ...dashboards.map((name) => read(`dashboards/${name}`))].join('\n'))
  const unused = (Object.keys(METRICS) as MetricName[]).filter(
    (name) => !used.some((one) => one.startsWith(name)),
  )
  // The rate of turns and of events says the same.
  assert.deepEqual(unused, ['workqueue_adds_total', 'workqueue_retries_total'])
})

test('the guide lists the alerts with their severity', () => {
  const guide = readFileSync(new URL('../../docs/guides/monitoring.md', import.meta.url), 'utf8')
  const listed = [...guide.matchAll(/^\| `((?:Drift|Backporch)\w+)` \| (\w+) \|/gm)].map(
    ([, alert, severity]) => `${alert} ${severity}`,
  )
  const rules = [...RULES.matchAll(/alert: (\w+)[\s\S]*?severity: (\w+)/g)].map(
    ([, alert, severity]) => `${alert} ${severity}`,
  )
  assert.deepEqual(listed, rules)
})

test('each dashboard has a unique name and panels that do not overlap', () => {
  const parsed = dashboards.map((name) => JSON.parse(read(`dashboards/${name}`)) as Dashboard)
  assert.equal(new Set(parsed.map(({ uid }) => uid)).size, dashboards.length)
  for (const { title, panels } of parsed) {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from(
        { length: w * h },
        (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`,
      ),
    )
    assert.equal(new Set(cells).size, cells.length, title)
    assert.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24))
  }
})

interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly panels: readonly {
    readonly gridPos: {
      readonly x: number
      readonly y: number
      readonly w: number
      readonly h: number
    }
  }[]
}
