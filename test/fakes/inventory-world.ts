/** A world whose live objects bear the marks of a syncer, and what a turn tells of it. */
import type { InventoryQuestion } from '@backporch/cluster/cluster'
import type { JsonObject } from '@backporch/kyaml/json'
import { formatNoteSentence } from '@backporch/kyaml/note'
import { getResourceKey, type WantedObject } from '@backporch/kyaml/resource'
import { appliedBy } from './live-object.ts'
import { CONFIG, TurnWorld, WEB, WEB_CONFIG, yaml } from './turn-world.ts'

export interface Marks {
  readonly labels?: JsonObject
  readonly annotations?: JsonObject
}

export class InventoryWorld extends TurnWorld {
  /** What the cluster was asked for. */
  readonly read: string[] = []
  readonly questions: InventoryQuestion[] = []

  constructor(files: { readonly [path: string]: string } = {}) {
    super('{mode: Propose}', files)
    const { readLive, readInventories } = this.cluster
    this.cluster.readLive = (wanted: readonly WantedObject[]) => {
      this.read.push(...wanted.map(({ id }) => getResourceKey(id)))
      return readLive.call(this.cluster, wanted)
    }
    this.cluster.readInventories = (questions) => {
      this.questions.push(...questions)
      return readInventories.call(this.cluster, questions)
    }
  }

  /** Puts the marks on live objects. */
  mark(marks: Marks, keys: readonly string[] = [WEB, WEB_CONFIG]): this {
    for (const key of keys) this.cluster.change(key, (live) => marked(live, marks))
    return this
  }

  /** A live ConfigMap in `shop` that the package does not declare. */
  leave(name: string, marks: Marks = {}, manager = this.syncer): this {
    this.cluster.put(
      marked(appliedBy(manager, yaml(CONFIG.replace('name: web', `name: ${name}`))), marks),
    )
    return this
  }

  async reported(): Promise<{
    changes: string[]
    aside: string[]
    incomplete: string[]
    notes: readonly string[]
    state: string
  }> {
    const { units } = await this.scan({ dryRun: true })
    const [unit] = units
    if (unit?.state !== 'planned') throw unit?.failures[0] ?? new TypeError('no unit')
    const { report } = unit.plan
    return {
      changes: report.spec.changes.map(({ change, ref }) => `${change} ${ref.kind}/${ref.name}`),
      aside: unit.observation.verdicts.flatMap(({ setAside }) =>
        setAside.map(({ drift, rule }) => `${drift.change} ${drift.id.name} ${rule}`),
      ),
      incomplete: (report.status.incomplete ?? []).map(({ code, why }) => `${code} ${why}`),
      notes: unit.notes.map(formatNoteSentence),
      state: report.status.state,
    }
  }
}

export function marked(object: JsonObject, { labels, annotations }: Marks): JsonObject {
  const metadata = object['metadata'] as JsonObject
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...(metadata['labels'] as JsonObject | undefined), ...labels },
      annotations: { ...(metadata['annotations'] as JsonObject | undefined), ...annotations },
    },
  }
}

export const KUSTOMIZE_MARKS: Marks = {
  labels: {
    'kustomize.toolkit.fluxcd.io/name': 'web',
    'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
  },
}
export const HELM_MARKS: Marks = {
  labels: { 'app.kubernetes.io/managed-by': 'Helm' },
  annotations: { 'meta.helm.sh/release-name': 'web', 'meta.helm.sh/release-namespace': 'shop' },
}

/** A Kustomization of a folder, with these objects in its inventory, each as `<namespace>_<name>_<group>_<Kind>`. */
export function kustomization(
  path: string,
  entries: readonly string[],
  spec: JsonObject = {},
): JsonObject {
  return {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'web', namespace: 'flux-system' },
    spec: { path, ...spec },
    status: { inventory: { entries: entries.map((id) => ({ id, v: 'v1' })) } },
  }
}
