/** A repository whose Kustomization applies a HelmRelease with a chart of elsewhere, and what Helm stored of its release. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { DeployedRelease } from '@backporch/cluster/cluster'
import {
  filterObjects,
  formatJson,
  getPartAt,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { readResource } from '@backporch/kyaml/resource'
import type { Preview } from '../../src/record/documents/preview.ts'
import { runInWorld } from '../fakes/cli-world.ts'
import { appliedBy } from '../fakes/live-object.ts'
import { SyncedWorld } from '../fakes/synced-world.ts'
import { yaml } from '../fakes/turn-world.ts'
import {
  APPS,
  FILES as DECLARED,
  RELEASE as OF_REPOSITORY,
  VALUES,
} from './declared-release-world.ts'

const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec:
  interval: 1m
  ref: {branch: main}
  url: ssh://git@/deploy
`
/** The chart is in no repository. */
export const RELEASE = OF_REPOSITORY.replace('./charts/web', 'web\n      version: 1.x').replace(
  '{kind: GitRepository, name: flux-system, namespace: flux-system}',
  '{kind: HelmRepository, name: charts}',
)
export const FILES = {
  ...Object.fromEntries(Object.entries(DECLARED).filter(([path]) => !path.startsWith('charts/'))),
  ...{
    'clusters/prod/sync.yaml': SYNC,
    'clusters/prod/apps.yaml': APPS,
    'apps/base/release.yaml': RELEASE,
    'apps/base/values.yaml': VALUES,
  },
  'apps/production/release.yaml': DECLARED['apps/production/release.yaml'],
}
const CHART = {
  'Chart.yaml': formatJson({ apiVersion: 'v2', name: 'web', version: '1.2.3' }),
  'values.yaml': formatJson({
    replicas: 1,
    image: { repository: 'example.com/web', tag: '1.0' },
    color: 'red',
    podAnnotations: {},
  }),
  'templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
spec:
  replicas: {{ .Values.replicas }}
  minReadySeconds: 5
  template:
    metadata:
      annotations:
        {{- toYaml (merge .Values.podAnnotations (dict "chart" .Chart.Name)) | nindent 8 }}
    spec:
      containers:
      - name: app
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
        env:
        - name: COLOR
          value: {{ .Values.color | quote }}
`,
}
/** The values of the first revision. */
export const GIVEN: JsonObject = { color: 'blue', replicas: 3, image: { tag: 1.27 } }

/** What Helm stores of a release with these values. @param postRenderer kustomization that the output goes through */
function deployed(helm: string, values: JsonObject, postRenderer?: JsonObject): DeployedRelease {
  const root = mkdtempSync(join(tmpdir(), 'backporch-chart-'))
  try {
    for (const [path, text] of Object.entries({ ...CHART, '../values.yaml': formatJson(values) })) {
      mkdirSync(dirname(join(root, 'chart', path)), { recursive: true })
      writeFileSync(join(root, 'chart', path), text)
    }
    const args = [
      'template',
      'shop',
      join(root, 'chart'),
      '--namespace',
      'shop',
      '--values',
      join(root, 'values.yaml'),
      '--no-hooks',
    ]
    const output = execFileSync(helm, args, { encoding: 'utf8' })
    const manifest =
      postRenderer === undefined ? output : throughKustomize(root, output, postRenderer)
    const chart = Object.entries(CHART).map(([path, text]) => ({
      path,
      mode: '100644' as const,
      content: new TextEncoder().encode(text),
    }))
    return {
      namespace: 'shop',
      name: 'shop',
      revision: 1,
      status: 'deployed',
      chartTitle: 'web 1.2.3',
      chart,
      values,
      manifest: labelled(manifest),
    }
  } finally {
    rmSync(root, { recursive: true })
  }
}

function throughKustomize(root: string, output: string, fields: JsonObject): string {
  const folder = join(root, 'post-renderer')
  mkdirSync(folder)
  writeFileSync(join(folder, 'output.yaml'), output)
  writeFileSync(
    join(folder, 'kustomization.yaml'),
    formatJson({ ...fields, resources: ['output.yaml'] }),
  )
  return execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
}

/** helm-controller adds labels, and writes the manifest anew. */
function labelled(manifest: string): string {
  const objects = parseGoYaml(manifest, 'the chart').documents.map(({ value }) => {
    assert.ok(isJsonObject(value) && isJsonObject(value['metadata']))
    const labels = {
      'helm.toolkit.fluxcd.io/name': 'web',
      'helm.toolkit.fluxcd.io/namespace': 'shop',
    }
    return { ...value, metadata: { ...value['metadata'], labels } }
  })
  return objects.map((object) => formatJson(object)).join('\n---\n')
}

export class ReleaseWorld extends SyncedWorld {
  private readonly helm: string
  private readonly postRenderer: JsonObject | undefined

  constructor(helm: string, base = RELEASE) {
    super({ ...FILES, 'apps/base/release.yaml': base }, ['kubectl', helm])
    this.helm = helm
    const [renderer] = filterObjects(getPartAt(yaml(base), 'spec', 'postRenderers'))
    const kustomization = getPartAt(renderer, 'kustomize')
    this.postRenderer = isJsonObject(kustomization) ? kustomization : undefined
    this.cluster.put(appliedBy('kustomize-controller', yaml(SYNC)))
    this.cluster.put(appliedBy('kustomize-controller', yaml(APPS)))
    this.cluster.put(appliedBy('kustomize-controller', yaml(VALUES)))
    const labels =
      '{kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}'
    const own = base
      .replace('replicas: 1', 'replicas: 3')
      .replace('${tag}', '1.27')
      .replace('name: web\n', `name: web\n  labels: ${labels}\n`)
    this.cluster.put(appliedBy('kustomize-controller', yaml(own)))
    this.release(GIVEN)
  }

  async previewed(files: { readonly [path: string]: string }): Promise<Preview> {
    this.repository.branches.set('refs/heads/change', this.repository.head('main'))
    this.repository.commitByHand('change', files)
    const { renderer } = this.request()
    const { stdout, stderr } = await runInWorld(
      this,
      ['preview', '--head', 'change', '-o', 'json'],
      { renderer },
    )
    assert.notEqual(stdout, '', stderr)
    return JSON.parse(stdout) as Preview
  }

  release(values: JsonObject): void {
    const release = deployed(this.helm, values, this.postRenderer)
    const applied = parseGoYaml(release.manifest, 'the manifest').documents.flatMap(({ value }) => {
      const read = isJsonObject(value) ? readResource(value) : { problem: '' }
      return 'problem' in read ? [] : [{ ...read, id: { ...read.id, namespace: 'shop' } }]
    })
    for (const { object } of applied) {
      const { metadata } = object
      assert.ok(isJsonObject(metadata))
      this.cluster.put(
        appliedBy('helm-controller', { ...object, metadata: { ...metadata, namespace: 'shop' } }),
      )
    }
    this.cluster.releases.set('shop/shop', {
      source: 'the Helm release shop/shop',
      resources: applied.map(({ id }) => id),
      applied,
      release,
    })
  }
}
