import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { MeasuredWorld } from '../fakes/measured-world.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import { findPrometheus, type PrometheusBinaries } from './find-prometheus.ts'
import { type Prometheus, startPrometheus } from './start-prometheus.ts'

const MONITORING = fileURLToPath(new URL('../../deploy/monitoring/', import.meta.url))
const ALERTS = `${MONITORING}alerts.yaml`
const JOB = 'backporch'

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string }[]
}

const DASHBOARDS = readdirSync(`${MONITORING}dashboards`)
function panelsOf(dashboard: string): readonly Panel[] {
  return (
    JSON.parse(readFileSync(`${MONITORING}dashboards/${dashboard}`, 'utf8')) as { panels: Panel[] }
  ).panels
}

/** As Grafana sends it, with everything selected. */
function withVariables(expression: string): string {
  return expression
    .replaceAll('$cluster', '.*')
    .replaceAll('$job', '.*')
    .replaceAll('$__rate_interval', '30s')
    .replaceAll('$__range', '1m')
}

interface Alert {
  readonly alert: string
  readonly expr: string
}

function alerts(): readonly Alert[] {
  const { documents } = parseGoYaml(readFileSync(ALERTS, 'utf8'), ALERTS)
  const files = documents.map(
    ({ value }) =>
      value as unknown as { readonly groups: readonly { readonly rules: readonly Alert[] }[] },
  )
  return files.flatMap(({ groups }) => groups.flatMap(({ rules }) => rules))
}

/** So that the next numbers are others than those of the scrape before. Scrapes that failed do not count. */
async function scraped(prometheus: Prometheus): Promise<void> {
  const scrapes = async (): Promise<number> => {
    const { result } = await prometheus.query(`sum_over_time(up{job="${JOB}"}[5m])`)
    return Number(result[0]?.value?.[1] ?? 0)
  }
  const before = await scrapes()
  await waitUntil('two more scrapes', async () => (await scrapes()) >= before + 2)
}

const found = await findPrometheus()
if (found.state === 'unavailable')
  test('monitoring with a real Prometheus', { skip: found.why }, () => {})
else describe('monitoring with a real Prometheus', () => suite(found))

function suite(binaries: PrometheusBinaries): void {
  const promtool = (args: readonly string[], input = '') => {
    const { status, stdout, stderr } = spawnSync(binaries.promtool, args, {
      input,
      encoding: 'utf8',
      cwd: MONITORING,
    })
    return { status, text: `${stdout}${stderr}` }
  }

  test('promtool accepts the metrics', async () => {
    const measured = new MeasuredWorld()
    await measured.round(5)
    await measured.leaveOpen()
    const { status, text } = promtool(
      ['check', 'metrics', '--extended'],
      await measured.metrics.renderExposition(),
    )
    assert.equal(status, 0, text)
  })

  test('the rules are valid and pass their own tests', () => {
    const checked = promtool(['check', 'rules', '--lint=all', '--lint-fatal', 'alerts.yaml'])
    assert.equal(checked.status, 0, checked.text)
    const tested = promtool(['test', 'rules', 'alerts.test.yaml'])
    assert.equal(tested.status, 0, tested.text)
  })

  test('each alert has a test in which it fires', () => {
    const text = readFileSync(`${MONITORING}alerts.test.yaml`, 'utf8')
    const fires = new Set(
      [...text.matchAll(/alertname: (\w+)\n\s+eval_time: \S+\n\s+exp_alerts:\n/g)].map(
        ([, name]) => name,
      ),
    )
    assert.deepEqual(
      alerts()
        .map(({ alert }) => alert)
        .filter((name) => !fires.has(name)),
      [],
    )
  })

  test('Prometheus scrapes the controller, and every panel and alert has data', async (t) => {
    const measured = new MeasuredWorld()
    const server = await measured.serve()
    t.after(() => server.close())
    const prometheus = await startPrometheus(binaries, {
      scrapes: new URL(server.url).host,
      job: JOB,
      rules: [ALERTS],
    })
    t.after(() => prometheus.stop())
    await waitUntil('a first scrape', async () => (await prometheus.target())?.health === 'up')
    await measured.turn()
    for (const value of [5, 6]) {
      await measured.round(value)
      await scraped(prometheus)
    }
    await measured.leaveOpen()
    await scraped(prometheus)
    const target = await prometheus.target()
    assert.deepEqual([target?.health, target?.lastError], ['up', ''])

    for (const dashboard of DASHBOARDS) {
      for (const { title, targets } of panelsOf(dashboard)) {
        for (const { expr } of targets) {
          const { result, warnings } = await prometheus.query(withVariables(expr))
          assert.deepEqual(warnings, [], `${dashboard}, ${title}: ${expr}`)
          assert.notEqual(result.length, 0, `${dashboard}, ${title} has no data: ${expr}`)
        }
      }
    }
    for (const { alert, expr } of alerts())
      assert.deepEqual((await prometheus.query(expr)).warnings, [], alert)
    const valuesOf = async (expression: string) =>
      (await prometheus.query(expression)).result.map(({ value }) => value?.[1])
    assert.deepEqual(await valuesOf('sum(backporch_package_info{state="Silenced"})'), ['1'])
    assert.deepEqual(
      await valuesOf('backporch_drift_resolved_total{package="apps/web",resolution="Restore"}'),
      ['2'],
    )
    assert.deepEqual(await valuesOf('backporch_held{reason="fight"}'), ['1'])
    assert.deepEqual(await valuesOf('sum(backporch_drifted_objects)'), ['2'])
    // The world's clock is days behind, so its drift is old and its cluster is stale.
    await waitUntil(
      'the alerts fire',
      async () =>
        (await prometheus.query('ALERTS{alertname="DriftUndecided"}')).result.length === 2,
    )
    await waitUntil(
      'the alerts fire',
      async () =>
        (await prometheus.query('ALERTS{alertname="DriftObservationStale"}')).result.length === 1,
    )
    assert.deepEqual(await prometheus.complaints(), [])
  })
}
