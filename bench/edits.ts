/** The list of injected hand edits, which each tool should find. Fifteen of the 25 only add a field. */
import type { BenchObject, BenchPackage } from './generate.ts'

export interface HandEdit {
  readonly object: BenchObject
  readonly additive: boolean
  /** Keyed field path, as `backporch diff -o json` names it. */
  readonly path: string
  /** Text that is in the live object only because of this edit. */
  readonly mark: string
  readonly manager: string
  /** Of the object's path; empty for the object itself. */
  readonly subresource: string
  readonly patch: unknown
}

const EACH = 5

/** @throws when there are too few ConfigMaps or Deployments */
export function handEdits(packages: readonly BenchPackage[]): HandEdit[] {
  const objects = packages.flatMap((one) => one.objects)
  const maps = take(objects, 'ConfigMap', 3 * EACH)
  const deployments = take(objects, 'Deployment', 2 * EACH)
  return [
    ...maps.slice(0, EACH).map((object, index): HandEdit => {
      const mark = `edited-value-${index}`
      return edit(object, 'data.key0', mark, 'kubectl-edit', { data: { key0: mark } })
    }),
    ...deployments.slice(0, EACH).map((object, index): HandEdit => {
      const replicas = 41 + index
      return {
        ...edit(object, 'spec.replicas', `replicas: ${replicas}`, 'kubectl-scale', {
          spec: { replicas },
        }),
        subresource: 'scale',
      }
    }),
    ...maps.slice(EACH, 2 * EACH).map((object, index): HandEdit => {
      const key = `added-key-${index}`
      return {
        ...edit(object, `data.${key}`, key, 'kubectl-patch', { data: { [key]: 'on' } }),
        additive: true,
      }
    }),
    ...deployments.slice(EACH).map((object, index): HandEdit => {
      const name = `ADDED_${index}`
      const patch = {
        spec: {
          template: { spec: { containers: [{ name: 'app', env: [{ name, value: 'on' }] }] } },
        },
      }
      return {
        ...edit(
          object,
          `spec.template.spec.containers[name=app].env[name=${name}]`,
          name,
          'kubectl-set',
          patch,
        ),
        additive: true,
      }
    }),
    ...maps.slice(2 * EACH).map((object, index): HandEdit => {
      const label = `added-label-${index}`
      const patch = { metadata: { labels: { [label]: 'on' } } }
      return {
        ...edit(object, `metadata.labels.${label}`, label, 'kubectl-label', patch),
        additive: true,
      }
    }),
  ]
}

function edit(
  object: BenchObject,
  path: string,
  mark: string,
  manager: string,
  patch: unknown,
): HandEdit {
  return { object, additive: false, path, mark, manager, subresource: '', patch }
}

/** Spread over the whole list, not only from its beginning. */
function take(objects: readonly BenchObject[], kind: string, count: number): BenchObject[] {
  const all = objects.filter((object) => object.kind === kind)
  if (all.length < count)
    throw new Error(
      `${count} objects of kind ${kind} are needed, there are ${all.length}: take more objects`,
    )
  return Array.from(
    { length: count },
    (_none, index) => all[Math.floor((index * all.length) / count)] as BenchObject,
  )
}

interface ReportedChange {
  readonly ref: { readonly kind: string; readonly namespace: string; readonly name: string }
  readonly path?: string
}

/** Paths are compared without the quotes that a key with special characters has. */
function keyOf(kind: string, namespace: string, name: string, path: string | undefined): string {
  return `${kind} ${namespace}/${name} ${(path ?? '').replaceAll(/\["([^"]+)"\]/g, '.$1')}`
}

/** How many edits a `DriftReportList` names, and how many other changes. */
export function foundInReport(
  edits: readonly HandEdit[],
  json: string,
): { readonly found: number; readonly others: number } {
  const { items } = JSON.parse(json) as { items: { spec: { changes: ReportedChange[] } }[] }
  const named = new Set(
    items.flatMap(({ spec }) =>
      spec.changes.map(({ ref, path }) => keyOf(ref.kind, ref.namespace, ref.name, path)),
    ),
  )
  const wanted = edits.map(({ object: { kind, metadata }, path }) =>
    keyOf(kind, metadata.namespace, metadata.name, path),
  )
  const found = wanted.filter((key) => named.has(key)).length
  return { found, others: named.size - found }
}

/** How many edits a unified diff shows on a removed or added line. */
export function foundInDiff(edits: readonly HandEdit[], diff: string): number {
  const lines = diff.split('\n').filter((line) => /^[-+](?![-+])/.test(line))
  return edits.filter(({ mark }) => lines.some((line) => line.includes(mark))).length
}
