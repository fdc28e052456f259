import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../record/documents/change.ts'
import { Terminal } from '../context/terminal.ts'
import { type DiffView, formatDiff } from './print-diff.ts'

const actor = {
  manager: 'kubectl-set',
  operation: 'Update',
  class: 'human-tool',
  at: '2026-08-21T13:24:00Z',
  confidence: 'field-manager',
} as const

function change(path: string, git: string, live: string): Change {
  const ref = { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }
  const rest = {
    risk: 'high',
    reason: 'APP-IMAGE',
    resolution: 'Restore',
    fingerprint: 'sha256:0',
  } as const
  return { ref, change: 'modified', path, git, live, actor, ...rest }
}

function lines(
  changes: readonly Change[],
  columns: number | undefined,
  more: Partial<DiffView> = {},
): string[] {
  const view = {
    packageName: 'apps/web',
    cluster: 'prod',
    plan: { report: { spec: { changes, observed: { objects: 1 } }, status: {} } },
    verdicts: [],
    showIgnored: false,
    now: Date.parse('2026-08-21T14:03:00Z'),
    wide: false,
    ...more,
  } as unknown as DiffView
  const stream = { isTTY: columns !== undefined, columns, write: () => undefined }
  return formatDiff(view, new Terminal(stream, { color: 'never', ascii: false, env: {} })).split(
    '\n',
  )
}

const IMAGE = 'spec.template.spec.containers[name=web].image'

test('a wide terminal or pipe shows one line per change', () => {
  const changes = [change(IMAGE, 'shop/web:1.8.2', 'shop/web:1.8.3'), change('spec.x', 'a', 'b')]
  assert.deepEqual(lines(changes, 160).slice(1, 3), [
    `  1 ~  ${IMAGE}  "shop/web:1.8.2" → "shop/web:1.8.3"  kubectl-set  human tool  39m ago  high APP-IMAGE`,
    `  2 ~  spec.x${' '.repeat(IMAGE.length - 6)}  "a" → "b"                            kubectl-set  human tool  39m ago  high APP-IMAGE`,
  ])
  assert.equal(lines(changes, undefined).length, lines(changes, 160).length)
})

test('a narrow terminal shows two lines per change, within its width and without needless truncation', () => {
  const changes = [
    change(IMAGE, 'shop/web:1.8.2', 'shop/web:1.8.3'),
    change('spec.x', 'a'.repeat(90), 'b'),
  ]
  const shown = lines(changes, 100)
  assert.deepEqual(shown.slice(1, 3), [
    `  1 ~  ${IMAGE}  "shop/web:1.8.2" → "shop/web:1.8.3"`,
    '       kubectl-set  human tool  39m ago  high APP-IMAGE',
  ])
  for (const line of shown) assert.ok(line.length <= 100, line)
})

const REST = 'kubectl-set  human tool  39m ago'

test('a long value does not shift the columns of other lines, and reasons stay aligned', () => {
  const digest = 'sha256:'.padEnd(44, '0')
  const long = change('spec.digest', `${digest}1`, `${digest}2`)
  const shown = lines([long, { ...change('spec.x', 'a', 'b'), risk: 'critical' }], 180).slice(1, 3)
  assert.deepEqual(shown, [
    `  1 ~  spec.digest  "${digest}1" → "${digest}2"  ${REST}  high     APP-IMAGE`,
    `  2 ~  spec.x       "a" → "b"${' '.repeat(88)}  ${REST}  critical APP-IMAGE`,
  ])
})

test('truncated values show where they differ, and lose no more than needed', () => {
  const image = 'docker.io/nginxinc/nginx-unprivileged:1.2'
  const [shown = ''] = lines([change('image', `${image}7`, `${image}8`)], 120).slice(1)
  assert.equal(
    shown,
    `  1 ~  image  …nginx-unprivileged:1.27" → …nginx-unprivileged:1.28"  ${REST}  high APP-IMAGE`,
  )
})

test('with two lines per change, values are aligned if they fit', () => {
  const shown = lines(
    [change(IMAGE, 'shop/web:1.8.2', 'shop/web:1.8.3'), change('spec.x', 'a', 'b')],
    100,
  )
  assert.equal(shown[3], `  2 ~  spec.x${' '.repeat(IMAGE.length - 6)}  "a" → "b"`)
})

test('values are aligned even if one is truncated, unless that shortens another', () => {
  const image = 'docker.io/nginxinc/nginx-unprivileged:1.2'
  const shown = lines([change(IMAGE, `${image}7`, `${image}8`), change('spec.x', 'a', 'b')], 112)
  assert.equal(shown[1], `  1 ~  ${IMAGE}  …nginx-unprivileged:1.27" → …nginx-unprivileged:1.28"`)
  assert.equal(shown[3], `  2 ~  spec.x${' '.repeat(IMAGE.length - 6)}  "a" → "b"`)
})

test('on request each line shows its planned resolution', () => {
  const shown = lines(
    [{ ...change('spec.x', 'a', 'b'), resolution: 'Adopt' }, change('spec.y', 'a', 'b')],
    120,
    { resolutions: true },
  )
  assert.match(shown[1] ?? '', /^ {2}1 ~ adopt {4}spec\.x {2}"a"/)
  assert.match(shown[2] ?? '', /^ {2}2 ~ restore {2}spec\.y {2}"a"/)
})

test('many objects unread for one reason are one line, and one line each with -o wide', () => {
  const unread = (name: string, why: string) => ({
    ref: { group: '', kind: 'Secret', namespace: 'shop', name },
    ...{ state: 'unreadable', code: 'BP3005', why, remedy: 'grant get' },
  })
  const incomplete = [
    ...['a', 'b', 'c', 'd'].map((name) => unread(name, 'forbidden')),
    unread('e', 'it is gone'),
  ]
  const plan = {
    report: { spec: { changes: [], observed: { objects: 5 } }, status: { incomplete } },
  } as unknown as DiffView['plan']
  assert.deepEqual(lines([], undefined, { plan }), [
    '? Secret shop/a and 3 others unreadable (BP3005): forbidden. grant get',
    '? Secret shop/e unreadable (BP3005): it is gone. grant get',
    '',
  ])
  assert.equal(
    lines([], undefined, { plan, wide: true }).filter((line) => line.startsWith('? ')).length,
    5,
  )
})

test('changes waiting for the syncer name their package when several are printed', () => {
  const drift = {
    id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' },
    path: [],
    change: 'missing',
  }
  const aside = {
    drift,
    state: 'Behind',
    why: 'the package is new, git has 91c0d4e, and the syncer has not applied it yet',
  }
  const verdicts = [{ setAside: [aside, aside] }] as unknown as DiffView['verdicts']
  const [alone] = lines([], undefined, { verdicts })
  assert.equal(alone, `Behind: ${aside.why} (2 differences, no drift)`)
  const [named] = lines([], undefined, { verdicts, isOneOfSeveral: true })
  assert.equal(named, `Behind: ${aside.why} (2 differences of apps/web in prod, no drift)`)
  const [found] = lines([], undefined, {
    verdicts,
    isOneOfSeveral: true,
    appliedBy: 'Kustomization apps/web',
  })
  assert.match(
    found ?? '',
    /\(2 differences of apps\/web \(Kustomization apps\/web\) in prod, no drift\)$/,
  )
})

test('an unreadable package is named with its cluster when several are printed', () => {
  const incomplete = [{ state: undefined, code: 'BP3001', why: 'no answer' }]
  const plan = {
    report: { spec: { changes: [], observed: { objects: 5 } }, status: { incomplete } },
  } as unknown as DiffView['plan']
  assert.match(
    lines([], undefined, { plan, isOneOfSeveral: true })[0] ?? '',
    /^\? apps\/web in prod not observed \(BP3001\)/,
  )
  assert.match(lines([], undefined, { plan })[0] ?? '', /^\? apps\/web not observed \(BP3001\)/)
})
