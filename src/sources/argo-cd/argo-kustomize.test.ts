import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import {
  filterObjects,
  filterTexts,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { BESIDE, KUSTOMIZATIONS } from '../../../test/corpus/argo/cases.ts'
import { createArgoKustomize } from './argo-kustomize.ts'

const ROWS = filterObjects(
  parseJson(
    readFileSync(
      new URL('../../../test/corpus/argo/kustomize-edits.json', import.meta.url),
      'utf8',
    ),
  ),
)

function written(text: string, options: Json): Json {
  const all = Object.entries({ ...BESIDE, 'app/kustomization.yaml': text })
  const files = new Map(
    all.map(([path, each]) => [
      path,
      { path, mode: '100644' as const, content: new TextEncoder().encode(each) },
    ]),
  )
  const { way } = createArgoKustomize({ at: ['source'], instance: 'shop' })
  assert.ok('kustomization' in way)
  try {
    return parseJson(
      way.kustomization({ spec: { source: { kustomize: options } } }, 'app', files).text,
    )
  } catch (thrown) {
    assert.ok(thrown instanceof Failure && thrown.code === 'BP1210')
    return null
  }
}

/** Without what kustomize makes of every kustomization that it writes, and what it leaves out as a default. */
function plain(value: Json): Json {
  if (!isJsonObject(value)) return value
  const { apiVersion: _version, kind: _kind, buildMetadata: _metadata, bases = [], ...rest } = value
  const resources = [...filterTexts(getKey(rest, 'resources')), ...filterTexts(bases)]
  const labels = filterObjects(getKey(rest, 'labels')).map(
    ({ includeSelectors, ...entry }): JsonObject =>
      includeSelectors === true ? { ...entry, includeSelectors } : entry,
  )
  return {
    ...rest,
    ...(resources.length === 0 ? {} : { resources }),
    ...(labels.length === 0 ? {} : { labels }),
  }
}

for (const [name, text] of Object.entries(KUSTOMIZATIONS))
  test(`writes the options of an Application into the kustomization ${name} like kustomize edit`, () => {
    const rows = ROWS.filter((row) => row['name'] === name)
    assert.ok(rows.length > 30)
    for (const { options = {}, edited = null } of rows)
      assert.deepEqual(plain(written(text, options)), plain(edited), JSON.stringify(options))
  })

test('substitutes build environment variables in labels and images, and in annotations on request', () => {
  const application = (kustomize: JsonObject): JsonObject => ({
    spec: {
      project: 'web',
      destination: { namespace: 'shop' },
      source: { path: 'app', targetRevision: 'main', kustomize },
    },
  })
  const files = new Map([
    [
      'app/kustomization.yaml',
      {
        path: 'app/kustomization.yaml',
        mode: '100644' as const,
        content: new TextEncoder().encode('{}\n'),
      },
    ],
  ])
  const { way } = createArgoKustomize({ at: ['source'], instance: 'team_shop' })
  assert.ok('kustomization' in way)
  const of = (kustomize: JsonObject): Json =>
    parseJson(way.kustomization(application(kustomize), 'app', files).text)
  const text =
    '$ARGOCD_APP_NAME-${ARGOCD_APP_NAMESPACE}-$ARGOCD_APP_PROJECT_NAME-${ARGOCD_APP_SOURCE_TARGET_REVISION}-$$-$OTHER.'
  const filled = 'team_shop-shop-web-main-$-.'
  assert.partialDeepStrictEqual(of({ commonLabels: { a: text } }), { commonLabels: { a: filled } })
  assert.partialDeepStrictEqual(of({ commonAnnotations: { a: text } }), {
    commonAnnotations: { a: text },
  })
  assert.partialDeepStrictEqual(
    of({ commonAnnotations: { a: text }, commonAnnotationsEnvsubst: true }),
    {
      commonAnnotations: { a: filled },
    },
  )
  assert.partialDeepStrictEqual(of({ images: ['web:${ARGOCD_APP_PROJECT_NAME}'] }), {
    images: [{ name: 'web', newTag: 'web' }],
  })
  assert.throws(() => of({ images: ['web:$ARGOCD_APP_REVISION_SHORT'] }), { code: 'BP1210' })
})
