import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { editedBy, withMetadata } from '../../test/fakes/live-object.ts'
import { TurnWorld, WEB, WEB_CONFIG } from '../../test/fakes/turn-world.ts'
import { RISK_RULES } from '../drift/risk/risk.ts'
import type { Change } from '../record/documents/change.ts'
import { API_VERSION } from '../record/documents/document.ts'
import type { DriftReport } from '../record/documents/drift-report.ts'
import type { DriftReportList } from '../record/documents/drift-report-list.ts'
import { reportList } from './report/print-document.ts'
import { formatAnnotations } from './report/report-annotations.ts'
import { formatMarkdown } from './report/report-markdown.ts'
import { buildSarifLog } from './report/report-sarif.ts'

const HOSTILE =
  '@org/all `x` | <img src=x> ](https://e.example) #1 ::error::y ##[set-output name=a]b %0A,:\n\u202e::add-mask::z {0}'

function change(more: Partial<Change> = {}): Change {
  const actor = {
    manager: 'kubectl-edit',
    operation: 'Update',
    class: 'human-tool',
    at: '2026-11-21T09:30:00Z',
    confidence: 'field-manager',
  } as const
  const ref = { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }
  const rest = {
    risk: 'medium',
    reason: 'AVAIL-REPLICAS',
    resolution: 'Restore',
    fingerprint: 'ab12',
    source: 'apps/web/deployment.yaml:12',
  } as const
  return {
    ref,
    change: 'modified',
    path: 'spec.replicas',
    git: 3,
    live: 5,
    actor,
    ...rest,
    ...more,
  }
}

function report(changes: readonly Change[], path = 'apps/web', cluster = 'prod'): DriftReport {
  return {
    apiVersion: API_VERSION,
    kind: 'DriftReport',
    metadata: { name: 'x', annotations: { 'config.kubernetes.io/local-config': 'true' } },
    spec: {
      unit: { cluster, package: path, commit: 'a1b2c3d4e5', tree: '0' },
      fingerprint: '',
      observed: { at: '2026-11-21T10:00:00Z', syncer: 'flux', objects: 2 },
      changes: [...changes],
    },
    status: {
      state: changes.length === 0 ? 'InSync' : 'Drifted',
      since: '2026-11-21T09:30:00Z',
      episode: '',
      lifecycle: 'Draft',
      plan: 'Restore',
    },
  }
}

function list(...items: readonly DriftReport[]): DriftReportList {
  return reportList(items, [])
}

test('Markdown has one row per change, riskiest first, numbered like diff', () => {
  const text = formatMarkdown(
    list(
      report([change(), change({ path: 'x', risk: 'critical', reason: 'SEC-PSS' })]),
      report([], 'apps/db'),
    ),
  )
  assert.match(text, /^## Drift: 2 changes in 1 of 2 packages\n/)
  const rows = text.split('\n').filter((line) => /^\| \d/.test(line))
  assert.deepEqual(rows, [
    '| 2 | `Deployment shop/web`<br>`apps/web/deployment.yaml:12` | `x` | `3` | `5` | `kubectl-edit` human tool<br>`2026-11-21T09:30:00Z` | **critical** `SEC-PSS` |',
    '| 1 | `Deployment shop/web`<br>`apps/web/deployment.yaml:12` | `spec.replicas` | `3` | `5` | `kubectl-edit` human tool<br>`2026-11-21T09:30:00Z` | medium `AVAIL-REPLICAS` |',
  ])
  assert.match(text, /Without drift: `apps\/db` in `prod`\./)
})

test('Markdown claims no drift only if nothing is hidden or unobserved', () => {
  assert.match(formatMarkdown(list(report([]))), /^## No drift in 1 package\n/)
  assert.match(
    formatMarkdown(list(report([])), { numbers: new Map([[change(), 1]]) }),
    /^## Drift: none in the selection\n\n1 more change not shown/,
  )
  const incomplete = [{ package: 'apps/x', code: 'BP3001', why: 'x' }]
  assert.match(
    formatMarkdown({ ...list(report([])), incomplete }),
    /The absence of drift is not proven/,
  )
  assert.match(formatMarkdown({ ...list(), incomplete }), /^## Drift: nothing could be observed\n/)
  const unknown = { ...report([]), status: { ...report([]).status, state: 'Unknown' as const } }
  assert.match(
    formatMarkdown({ ...list(unknown), incomplete }),
    /^## Drift: unknown in 1 package\n/,
  )
  assert.match(
    formatMarkdown({ ...list(unknown, report([])), incomplete }),
    /^## No drift in 1 of 2 packages\n/,
  )
})

test('Markdown from the ledger shows when clusters were observed, not when it was printed', () => {
  const earlier = report([])
  const at = { ...earlier.spec.observed, at: '2026-11-20T10:00:00Z' }
  const later = { ...list(earlier), observedAt: '2026-12-24T10:00:00Z' }
  assert.match(formatMarkdown(later), /Observed `2026-11-21T10:00:00Z`\. /)
  const both = {
    ...later,
    items: [earlier, { ...earlier, spec: { ...earlier.spec, observed: at } }],
  }
  assert.match(formatMarkdown(both), /Observed `2026-11-20T10:00:00Z` to `2026-11-21T10:00:00Z`\. /)
})

test('Markdown fits into a comment and counts what is left out', () => {
  const many = Array.from({ length: 3_000 }, (_unused, index) =>
    report(
      [change({ live: '|'.repeat(200), risk: index === 2_999 ? 'critical' : 'low' })],
      `apps/${index}`,
    ),
  )
  const text = formatMarkdown({
    ...list(...many),
    incomplete: Array.from({ length: 500 }, () => ({ code: 'BP3001', why: 'w'.repeat(5_000) })),
  })
  assert.ok(text.length < 65_536, `${text.length}`)
  assert.match(text, /Shown are \d+ of 3000 changes, the riskiest first/)
  assert.match(text, /### `apps\/2999`/)
})

test('hostile text stays in code, on its row and in its cell', () => {
  const text = formatMarkdown({
    ...list(
      report(
        [
          change({
            ref: { ...change().ref, name: HOSTILE },
            path: HOSTILE,
            git: HOSTILE,
            live: HOSTILE,
            source: HOSTILE,
            reason: HOSTILE,
          }),
        ],
        HOSTILE,
        HOSTILE,
      ),
    ),
    incomplete: [{ package: HOSTILE, code: 'BP3001', why: HOSTILE, remedy: HOSTILE }],
  })
  const outside = text.replace(/(`+)(?!`).*?(?<!`)\1(?!`)/g, '')
  assert.doesNotMatch(outside, /@|#1|<img|e\.example|::|set-output/)
  for (const row of text.split('\n').filter((line) => line.startsWith('| 1')))
    assert.equal(row.split(/(?<!\\)\|/).length, 9)
})

test('annotations have file, line and a level for the risk, riskiest first', () => {
  const changes = (['low', 'medium', 'high', 'critical'] as const).map((risk) => change({ risk }))
  const lines = formatAnnotations(list(report(changes)))
    .trimEnd()
    .split('\n')
  assert.deepEqual(
    lines.map((line) => line.split(' ')[0]),
    ['::error', '::error', '::warning', '::notice', '4'],
  )
  assert.equal(
    lines[2],
    '::warning file=apps/web/deployment.yaml,line=12,title=drift in prod%3A Deployment shop/web::#2 spec.replicas: 3 → 5, by kubectl-edit (human tool) 2026-11-21T09:30:00Z, medium AVAIL-REPLICAS',
  )
})

test('hostile text adds no runner command and no property', () => {
  const hostile = change({
    ref: { ...change().ref, name: HOSTILE },
    path: HOSTILE,
    live: HOSTILE,
    source: 'a,line=1::error::.yaml:3',
  })
  const lines = formatAnnotations(list(report([hostile], HOSTILE, HOSTILE)))
    .trimEnd()
    .split('\n')
  assert.equal(lines.length, 2)
  // As the runner splits it: up to the second "::", then at commas, then at "=".
  const [, head = ''] = /^::(.*?)::/.exec(lines[0] ?? '') ?? []
  assert.deepEqual(
    head.split(',').map((pair) => pair.split('=')[0]),
    ['warning file', 'line', 'title'],
  )
  assert.match(head, /file=a%2Cline=1%3A%3Aerror%3A%3A\.yaml,line=3/)
})

test('-o github writes Markdown to the step summary, and a failure to write is a note', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  const written: string[] = []
  const env = { GITHUB_STEP_SUMMARY: '/summary' }
  const good = await runInWorld(world, ['diff', '-o', 'github'], {
    env,
    appendText: (path, text) => written.push(`${path} ${text}`),
  })
  assert.match(written.join(), /^\/summary ## Drift: 1 change/)
  assert.doesNotMatch(good.stdout, /## Drift/)
  const fail = (): never => {
    throw new Error('EACCES: permission denied')
  }
  const bad = await runInWorld(world, ['diff', '-o', 'github'], { env, appendText: fail })
  assert.deepEqual([bad.code, bad.stdout], [good.code, good.stdout])
  assert.match(bad.stderr, /note: the step summary could not be written: EACCES/)
})

interface Sarif {
  readonly version: string
  readonly runs: readonly {
    readonly tool: {
      readonly driver: {
        readonly name: string
        readonly rules: readonly {
          readonly id: string
          readonly properties: { readonly [name: string]: unknown }
        }[]
      }
    }
    readonly automationDetails: { readonly id: string }
    readonly results: readonly {
      readonly ruleId: string
      readonly ruleIndex: number
      readonly level: string
      readonly message: { readonly text: string }
      readonly locations: readonly {
        readonly physicalLocation: {
          readonly artifactLocation: { readonly uri: string }
          readonly region: { readonly startLine: number }
        }
      }[]
      readonly partialFingerprints: { readonly [name: string]: string }
    }[]
  }[]
}

/** Validated once in full by Sarif.Multitool with GitHub's rules (docs/facts/sarif-for-github.md); here is what GitHub reads. */
function sarif(reports: DriftReportList): Sarif['runs'][number] {
  const log = JSON.parse(JSON.stringify(buildSarifLog(reports, '1.2.3'))) as Sarif
  assert.deepEqual([log.version, log.runs.length], ['2.1.0', 1])
  const [run] = log.runs
  assert.ok(run !== undefined)
  for (const result of run.results) {
    assert.equal(run.tool.driver.rules[result.ruleIndex]?.id, result.ruleId)
    assert.ok(['error', 'warning', 'note'].includes(result.level) && result.message.text.length > 0)
    const [{ physicalLocation }] = result.locations as [
      Sarif['runs'][number]['results'][number]['locations'][number],
    ]
    assert.ok(physicalLocation.region.startLine >= 1)
    assert.match(physicalLocation.artifactLocation.uri, /^[\w%.~!*'()-]+(\/[\w%.~!*'()-]+)*$/)
    assert.match(result.partialFingerprints['primaryLocationLineHash'] ?? '', /^[0-9a-f]{16}:1$/)
  }
  return run
}

test('SARIF has every rule, a level for the risk, and scores only for security rules', () => {
  const { tool, results, automationDetails } = sarif(
    list(report([change(), change({ risk: 'critical', reason: 'SEC-RBAC' })])),
  )
  assert.deepEqual(
    tool.driver.rules.map(({ id }) => id),
    RISK_RULES.map(({ code }) => code),
  )
  const score = (id: string): unknown =>
    tool.driver.rules.find((rule) => rule.id === id)?.properties['security-severity']
  assert.deepEqual(
    [score('SEC-RBAC'), score('NET-EXPOSE'), score('AVAIL-REPLICAS'), score('META')],
    ['9.5', '8.0', undefined, undefined],
  )
  assert.deepEqual(
    results.map(({ ruleId, level }) => [ruleId, level]),
    [
      ['SEC-RBAC', 'error'],
      ['AVAIL-REPLICAS', 'warning'],
    ],
  )
  assert.equal(automationDetails.id, 'backporch/prod/')
})

test('SARIF for a folder without a Kptfile points to the first known manifest, or the folder', () => {
  const { source: _source, ...unexpected } = change({ change: 'unexpected' })
  const folder = (path: string, ...changes: readonly Change[]): DriftReport => {
    const own = report(changes, path)
    return { ...own, spec: { ...own.spec, unit: { ...own.spec.unit, source: 'folder' } } }
  }
  const file = (of: DriftReport): unknown => /file=([^,]*),/.exec(formatAnnotations(list(of)))?.[1]
  const later = { ...change(), risk: 'low', source: 'apps/web/z.yaml:3' } as const
  assert.equal(
    file(
      folder('apps/web', { ...unexpected, risk: 'critical' }, later, {
        ...later,
        source: 'apps/web/a.yaml:9',
      }),
    ),
    'apps/web/a.yaml',
  )
  assert.equal(file(folder('apps/web', unexpected)), 'apps/web')
  assert.equal(file(folder('', unexpected)), '.')
})

test('SARIF for an undeclared change points to the package Kptfile', () => {
  const { source: _source, ...unexpected } = change({
    change: 'unexpected',
    reason: 'OBJ-UNEXPECTED',
  })
  const uris = sarif(list(report([unexpected]), report([unexpected], ''))).results.map(
    ({ locations }) => locations[0]?.physicalLocation.artifactLocation.uri,
  )
  assert.deepEqual(uris, ['apps/web/Kptfile', 'Kptfile'])
})

test('a SARIF alert is stable when lines move, and differs per cluster and value', () => {
  const hashOf = (one: Change, cluster = 'prod'): string | undefined =>
    sarif(list(report([one], 'apps/web', cluster))).results[0]?.partialFingerprints[
      'primaryLocationLineHash'
    ]
  assert.equal(hashOf(change()), hashOf(change({ source: 'apps/web/deployment.yaml:99' })))
  assert.notEqual(hashOf(change()), hashOf(change(), 'edge'))
  assert.notEqual(hashOf(change()), hashOf(change({ fingerprint: 'cd34' })))
})

test('hostile text adds no link, placeholder or invalid address to SARIF', () => {
  const [result] = sarif(
    list(
      report(
        [change({ path: HOSTILE, live: HOSTILE, source: 'apps/a b/ü#?%.yaml:3' })],
        HOSTILE,
        HOSTILE,
      ),
    ),
  ).results
  assert.doesNotMatch(result?.message.text ?? '', /\]\(|\{\d+\}|\n|\u202e/)
  assert.equal(
    result?.locations[0]?.physicalLocation.artifactLocation.uri,
    'apps/a%20b/%C3%BC%23%3F%25.yaml',
  )
})

test('hostile names and values of a real turn add no lines to reports', async () => {
  const world = new TurnWorld()
  world.edit(WEB_CONFIG, `data[${JSON.stringify(HOSTILE)}]`, HOSTILE, HOSTILE)
  world.cluster.change(WEB, (live) =>
    editedBy(HOSTILE, withMetadata(live, {}), 'spec.replicas', HOSTILE),
  )
  for (const output of ['markdown', 'github', 'sarif', 'jsonl']) {
    const { stdout } = await runInWorld(world, ['diff', '-o', output])
    assert.doesNotMatch(stdout, /^(::add-mask|::error::y)/m, output)
    if (output !== 'jsonl')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/, output)
  }
})
