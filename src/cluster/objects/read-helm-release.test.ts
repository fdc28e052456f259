import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Failure } from '@backporch/kyaml/failure'
import { getResourceKey } from '@backporch/kyaml/resource'
import { type Routes, scriptedApi, statusAnswer } from '../../../test/apiserver/scripted-api.ts'
import type { ScriptedAnswer } from '../../../test/apiserver/scripted-server.ts'
import {
  CONFIG_MAPS,
  config,
  list,
  MANIFEST,
  NO_TEXTS,
  REF,
  SECRETS,
  stored,
  storedAsText,
  texts,
} from '../../../test/fakes/helm-releases.ts'

const signal = new AbortController().signal

test('reads the objects of the newest deployed revision, in the namespace where Helm installs them', async (t) => {
  const api = await scriptedApi(t, {
    ...NO_TEXTS,
    [SECRETS]: () => list(stored('', 2), stored(MANIFEST, 10), stored('', 9)),
  })
  const [answer] = await api.cluster.readInventories([REF], signal)
  assert.ok(answer !== undefined && !(answer instanceof Failure))
  assert.equal(answer.source, 'Helm release shop/web revision 10')
  assert.deepEqual(answer.resources.map(getResourceKey), [
    '/ConfigMap/shop/web',
    'apps/Deployment/elsewhere/web',
    'rbac.authorization.k8s.io/ClusterRole//web',
    'gone.example.com/Gone/shop/web',
    '/Secret/shop/web',
  ])
  assert.deepEqual(
    api.requested().toSorted(),
    [CONFIG_MAPS, SECRETS].map(
      (path) => `${path}?limit=500&labelSelector=owner=helm,name=web,status!=superseded`,
    ),
  )
})

test('reads releases of one namespace together, with chart and values on request', async (t) => {
  const chart = {
    metadata: { name: 'web', version: '1.2.3', dependencies: [{ name: 'db' }] },
    values: { color: 'red' },
    templates: [
      { name: 'templates/a.yaml', data: Buffer.from('kind: A').toString('base64') },
      { name: '../x', data: '' },
    ],
    files: [{ name: 'notes.txt', data: Buffer.from('hello').toString('base64') }],
  }
  const packed = (name: string, manifest: string) => {
    const release = gzipSync(
      JSON.stringify({ name, version: 1, manifest, config: { color: 'blue' }, chart }),
    ).toString('base64')
    const { metadata } = stored('')
    return {
      metadata: {
        ...metadata,
        name: `sh.helm.release.v1.${name}.v1`,
        labels: { ...metadata.labels, name },
      },
      data: { release: Buffer.from(release).toString('base64') },
    }
  }
  const both = [
    packed('web', config('a')),
    packed('shop', '# Source: shop/charts/db/templates/a.yaml\n'),
  ]
  const api = await scriptedApi(t, { ...NO_TEXTS, [SECRETS]: () => list(...both) })
  const questions = ['web', 'shop', 'none'].map((name) => ({
    helmRelease: { namespace: 'shop', name },
    withChart: name !== 'shop',
  }))
  const [web, shop, none] = await api.cluster.readInventories(questions, signal)
  assert.ok(
    web !== undefined &&
      !(web instanceof Failure) &&
      shop !== undefined &&
      !(shop instanceof Failure),
  )
  assert.equal(none, undefined)
  assert.equal(shop.release, undefined)
  const { chart: files = [], values, chartTitle } = web.release ?? {}
  assert.deepEqual([values, chartTitle], [{ color: 'blue' }, 'web 1.2.3'])
  assert.deepEqual(
    files.map(({ path, content }) => [path, new TextDecoder().decode(content)]),
    [
      ['Chart.yaml', '{"name":"web","version":"1.2.3"}'],
      ['values.yaml', '{"color":"red"}'],
      ['templates/a.yaml', 'kind: A'],
      ['notes.txt', 'hello'],
    ],
  )
  assert.deepEqual(
    api.requested().toSorted(),
    [CONFIG_MAPS, SECRETS].map(
      (path) =>
        `${path}?limit=500&labelSelector=owner=helm,name+in+(web,shop,none),status!=superseded`,
    ),
  )
  const [other] = await api.cluster.readInventories(
    [{ helmRelease: { namespace: 'shop', name: 'shop' }, withChart: true }],
    signal,
  )
  assert.ok(other !== undefined && !(other instanceof Failure))
  // What a dependency made cannot be rendered anew: Helm does not store dependencies.
  assert.equal(other.release?.chart, undefined)
})

test('a chart that uses a library chart is incomplete, and one with only unused dependencies is complete', async (t) => {
  const own = '{{- define "web.name" }}web{{ end }}\n'
  const charts = {
    library: `${own}{{- include "common.loader" . }}\nname: {{ include "web.name" . }}\n`,
    wrapped: `${own}{{ with .Values.a }}{{- template \`common.loader\` $ -}}{{ end }}\n`,
    unused: `${own}{{/* as {{ include "common.loader" . }} in others */}}name: {{ template "web.name" . }}\n`,
    none: 'name: {{ include "elsewhere.name" . }}\n',
  }
  const items = Object.entries(charts).map(([name, template]) => {
    const dependencies = name === 'none' ? [] : [{ name: 'common', version: '1.0.0' }]
    const templates = [{ name: 'templates/a.yaml', data: Buffer.from(template).toString('base64') }]
    const chart = { metadata: { name, version: '1.0.0', dependencies }, templates }
    const release = gzipSync(JSON.stringify({ name, version: 1, manifest: config('a'), chart }))
    const { metadata } = stored('')
    const labels = { ...metadata.labels, name }
    return {
      metadata: { ...metadata, name: `sh.helm.release.v1.${name}.v1`, labels },
      data: { release: Buffer.from(release.toString('base64')).toString('base64') },
    }
  })
  const api = await scriptedApi(t, { ...NO_TEXTS, [SECRETS]: () => list(...items) })
  const answers = await api.cluster.readInventories(
    Object.keys(charts).map((name) => ({
      helmRelease: { namespace: 'shop', name },
      withChart: true,
    })),
    signal,
  )
  const whole = answers.map((answer) =>
    answer === undefined || answer instanceof Failure
      ? answer
      : answer.release?.chart !== undefined,
  )
  assert.deepEqual(whole, [false, false, true, true])
})

test('an invalid release name finds nothing and does not affect the others of its namespace', async (t) => {
  const api = await scriptedApi(t, { ...NO_TEXTS, [SECRETS]: () => list(stored(MANIFEST)) })
  const questions = ['web', 'x),name notin (y', ''].map((name) => ({
    helmRelease: { namespace: 'shop', name },
  }))
  const [web, ...others] = await api.cluster.readInventories(questions, signal)
  assert.ok(web !== undefined && !(web instanceof Failure))
  assert.deepEqual(others, [undefined, undefined])
  assert.ok(
    api
      .requested()
      .every((line) => line.endsWith('labelSelector=owner=helm,name=web,status!=superseded')),
  )
  assert.deepEqual(await api.cluster.readInventories(questions.slice(1), signal), [
    undefined,
    undefined,
  ])
  assert.equal(api.requested().length, 2)
})

test('reads an uncompressed release of an old Helm, and reports a missing one as undefined', async (t) => {
  let items: readonly object[] = [stored(MANIFEST, 1, { zip: false })]
  const api = await scriptedApi(t, { ...NO_TEXTS, [SECRETS]: () => list(...items) })
  const [answer] = await api.cluster.readInventories([REF], signal)
  assert.equal(answer !== undefined && !(answer instanceof Failure) && answer.resources.length, 5)
  items = []
  assert.deepEqual(await api.cluster.readInventories([REF], signal), [undefined])
})

test('reports a Secret without a valid release without revealing its content', async (t) => {
  const secret = 'hunter2hunter2'
  for (const broken of [
    stored(12),
    stored(`a: [${secret}`),
    { ...stored(''), data: { release: secret } },
    { ...stored(''), data: {} },
  ]) {
    const api = await scriptedApi(t, { ...NO_TEXTS, [SECRETS]: () => list(broken) })
    const [answer] = await api.cluster.readInventories([REF], signal)
    assert.ok(answer instanceof Failure)
    assert.equal(answer.code, 'BP3012')
    assert.doesNotMatch(
      `${answer.what} ${answer.why} ${answer.where} ${answer.stack} ${String(answer.cause)}`,
      new RegExp(secret),
    )
  }
})

test('reports a missing Secret permission only for the questions that need it', async (t) => {
  const api = await scriptedApi(t, {
    ...NO_TEXTS,
    [SECRETS]: () => statusAnswer(403, 'Forbidden', 'no Secrets'),
  })
  const listing = { listing: [], labelSelector: undefined }
  const [release, listed] = await api.cluster.readInventories([REF, listing], signal)
  assert.equal(release instanceof Failure && release.code, 'BP3003')
  assert.deepEqual(listed, { source: 'a listing', resources: [], objects: [] })
})

async function sourceOf(t: TestContext, routes: Routes): Promise<unknown> {
  const [answer] = await (await scriptedApi(t, routes)).cluster.readInventories([REF], signal)
  return answer instanceof Failure
    ? answer.code
    : [answer?.source, answer?.resources.map(({ name }) => name)]
}

test('reads a release from ConfigMaps even without access to Secrets, and fails without access to both', async (t) => {
  const held = { [CONFIG_MAPS]: () => texts(storedAsText(MANIFEST, 3)) }
  const forbidden = (): ScriptedAnswer => statusAnswer(403, 'Forbidden', 'no')
  const names = ['web', 'web', 'web', 'web', 'web']
  assert.deepEqual(await sourceOf(t, { ...held, [SECRETS]: () => list() }), [
    'Helm release shop/web revision 3',
    names,
  ])
  assert.deepEqual(await sourceOf(t, { ...held, [SECRETS]: forbidden }), [
    'Helm release shop/web revision 3',
    names,
  ])
  assert.deepEqual(
    await sourceOf(t, { [SECRETS]: () => list(stored(MANIFEST)), [CONFIG_MAPS]: forbidden }),
    ['Helm release shop/web revision 1', names],
  )
  assert.equal(await sourceOf(t, { [SECRETS]: () => list(), [CONFIG_MAPS]: forbidden }), 'BP3003')
  assert.equal(await sourceOf(t, { [SECRETS]: forbidden, [CONFIG_MAPS]: forbidden }), 'BP3003')
})

test('for a release in both stores, uses the one that was deployed last', async (t) => {
  const secret = stored('', 7)
  const json = {
    name: 'web',
    version: 7,
    manifest: config('old'),
    info: { last_deployed: '2026-11-20T10:00:00.123+01:00' },
  }
  const release = Buffer.from(gzipSync(JSON.stringify(json)).toString('base64')).toString('base64')
  const [before, after] = ['2026-11-20T08:59:59Z', '2026-11-20T09:00:01Z']
  const both = (at: string): Routes => ({
    [SECRETS]: () => list({ ...secret, data: { release } }),
    [CONFIG_MAPS]: () => texts(storedAsText(config('new'), 1, { at })),
  })
  assert.deepEqual(await sourceOf(t, both(after)), ['Helm release shop/web revision 1', ['new']])
  assert.deepEqual(await sourceOf(t, both(before)), ['Helm release shop/web revision 7', ['old']])
})

const REVISIONS: readonly (readonly [
  what: string,
  revisions: readonly (readonly [version: number, status: string])[],
  source: string,
  later: string | undefined,
  applied: boolean,
])[] = [
  [
    'a deployed revision and earlier ones',
    [
      [9, 'superseded'],
      [10, 'deployed'],
      [8, 'failed'],
    ],
    'revision 10',
    undefined,
    true,
  ],
  [
    'a failed upgrade',
    [
      [2, 'deployed'],
      [3, 'failed'],
    ],
    'revision 2',
    'revision 3 (failed)',
    true,
  ],
  [
    'a pending upgrade',
    [
      [2, 'deployed'],
      [3, 'failed'],
      [4, 'pending-upgrade'],
    ],
    'revision 2',
    'revision 4 (pending-upgrade)',
    true,
  ],
  ['a failed first install', [[1, 'failed']], 'revision 1 (failed)', undefined, true],
  [
    'a pending first install',
    [[1, 'pending-install']],
    'revision 1 (pending-install)',
    undefined,
    true,
  ],
  [
    'a rollback',
    [
      [1, 'superseded'],
      [2, 'superseded'],
      [3, 'deployed'],
    ],
    'revision 3',
    undefined,
    true,
  ],
  [
    'an uninstalled release',
    [
      [1, 'superseded'],
      [2, 'uninstalled'],
    ],
    'revision 2 (uninstalled)',
    undefined,
    false,
  ],
  [
    'an uninstall after a failed upgrade',
    [
      [1, 'deployed'],
      [2, 'uninstalling'],
    ],
    'revision 2 (uninstalling)',
    undefined,
    false,
  ],
]

for (const [what, revisions, source, later, applied] of REVISIONS) {
  test(`starts from the revision that Helm would start from: ${what}`, async (t) => {
    const items = revisions.map(([version, status]) =>
      stored(config(`of-${version}`), version, { status }),
    )
    const api = await scriptedApi(t, { ...NO_TEXTS, [SECRETS]: () => list(...items) })
    const [answer] = await api.cluster.readInventories([REF], signal)
    assert.ok(answer !== undefined && !(answer instanceof Failure))
    assert.equal(answer.source, `Helm release shop/web ${source}`)
    assert.equal(
      answer.later?.source,
      later === undefined ? undefined : `Helm release shop/web ${later}`,
    )
    assert.equal(answer.applied !== undefined, applied)
    if (applied)
      assert.deepEqual(
        answer.applied?.map(({ id }) => id),
        answer.resources,
      )
  })
}

test('reads a release of the maximum Secret size, and rejects text that unpacks beyond the limit', async (t) => {
  const many = Array.from(
    { length: 500 },
    (_one, index) => `${config(`config-${index}`)}data: {text: ${'x'.repeat(16_000)}}\n`,
  ).join('---\n')
  const [, names] = (await sourceOf(t, {
    ...NO_TEXTS,
    [SECRETS]: () => list(stored(many)),
  })) as readonly [string, readonly string[]]
  assert.equal(names.length, 500)
  const bomb = storedAsText('x'.repeat(70 * 1024 * 1024), 1)
  assert.equal(
    await sourceOf(t, { [SECRETS]: () => list(), [CONFIG_MAPS]: () => texts(bomb) }),
    'BP3012',
  )
})

test('a release excludes hooks, includes subchart objects, and keeps objects with generated names without a name', async (t) => {
  const manifest = [
    '# Source: web/charts/cache/templates/all.yaml\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: web-cache}}\n',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: run-}\n',
    '# Source: web/templates/empty.yaml\n',
    config('web'),
  ].join('---\n')
  const release = {
    name: 'web',
    version: 1,
    manifest,
    hooks: [{ name: 'check', kind: 'Job', manifest: config('check') }],
  }
  const text = {
    ...storedAsText('', 1),
    data: { release: gzipSync(JSON.stringify(release)).toString('base64') },
  }
  assert.deepEqual(
    await sourceOf(t, { [SECRETS]: () => list(), [CONFIG_MAPS]: () => texts(text) }),
    ['Helm release shop/web revision 1', ['web-cache', 'web']],
  )
})
